"""Events: written with what they tell of, published in order, received once; see ARCHITECTURE.md."""

"""The keys that sign tokens: made, published, taken over by the next one, forgotten."""

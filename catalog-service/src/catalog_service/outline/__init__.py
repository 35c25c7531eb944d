"""The outline: sections with what is in them, and moves of many items as one act."""

"""The review queue: reading suggestions, accepting and rejecting them, and what takes them out by itself."""

"""What items said before, and how that differs from what they say now."""

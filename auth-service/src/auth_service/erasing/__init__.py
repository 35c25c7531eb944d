"""Erasing people: what they did stays, and nothing says who they were."""

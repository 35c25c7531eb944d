"""Sections of the outline, and the positions of what is in them."""

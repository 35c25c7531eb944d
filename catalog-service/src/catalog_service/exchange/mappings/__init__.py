"""Mappings that people have saved: which column of a file is which field."""

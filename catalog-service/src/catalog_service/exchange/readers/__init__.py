"""Readers of the formats in which other tools keep requirements and test cases, a module a format."""

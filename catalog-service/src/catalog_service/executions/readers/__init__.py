"""Readers of result files, a module a format."""

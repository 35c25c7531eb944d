"""Exports for another tool: tables by a mapping or preset that is read backwards."""

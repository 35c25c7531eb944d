"""Exports: the record, or a part of it, as a file of one moment."""

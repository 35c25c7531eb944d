"""Traceline on the command line: a client of its public API, which knows none of its services."""

__version__ = "0.1.0"

"""A verdict without a server: reads record and reports from files, and holds them against the rules of a gate."""

__version__ = "0.1.0"

"""How fast files are read, and how much memory that takes, beside the libraries that others read them with."""

from benchmarks.exchange.run import main

__all__ = ["main"]

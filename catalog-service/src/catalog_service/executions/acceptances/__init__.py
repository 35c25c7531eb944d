"""Failures that people know of and accept until a time: the verdict stays, a gate may let them pass."""

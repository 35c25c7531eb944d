"""Logs, traces and what programs measure of themselves."""

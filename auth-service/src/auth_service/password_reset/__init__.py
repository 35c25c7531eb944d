"""Forgotten passwords: links by which somebody chooses a new one."""

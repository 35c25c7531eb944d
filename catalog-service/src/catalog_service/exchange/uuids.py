"""Ids of items as files have them, and those that imports make in SQL: the same however often they are made."""

UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
"""Matches an id in lower case, for Python and for SQL."""


def uuid_of(digest: str) -> str:
    """Return the SQL of the UUID of version 8 (RFC 9562) that has the 32 hexadecimal digits of the SQL `digest`."""
    return f"overlay(overlay({digest} placing '8' from 13) placing '8' from 17)::uuid"

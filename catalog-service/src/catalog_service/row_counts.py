"""Counts of whole tables, which triggers keep."""


def counted(table: str) -> str:
    """Return the query of how many rows a table of items, links, relations or linked items has; it counts nothing."""
    return f"SELECT coalesce(sum(rows), 0)::bigint FROM row_counts WHERE table_name = '{table}'"

"""Triggers by which migrations have PostgreSQL keep counts of rows, which no program can then forget."""

_NAMES = {"INSERT": "inserted", "UPDATE": "updated", "DELETE": "deleted", "TRUNCATE": "truncated"}


def count_trigger(
    table: str, event: str, function: str, *, old: str | None = None, new: str | None = None, name: str = "count"
) -> str:
    """Return the SQL that has `function` called once after each statement of the kind `event`.

    The function finds the rows as they were and as they are in transition tables, by the names `old` and `new`.
    Frozen: migrations that have run are made of it.
    """
    rows = "".join(f" {kind} TABLE AS {of}" for kind, of in (("OLD", old), ("NEW", new)) if of is not None)
    return (
        f"CREATE TRIGGER {name}_{_NAMES[event]} AFTER {event} ON {table}{' REFERENCING' if rows else ''}{rows}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
    )

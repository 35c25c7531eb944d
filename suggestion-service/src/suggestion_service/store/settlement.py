"""Table `settlement`: one row a project, up to which change of the corpus a sweep has reconciled what is pending."""

from dataclasses import dataclass

from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_only, fetch_value
from suggestion_service.store import import_items

_STATE = f"""
SELECT coalesce(h.head, 0) AS head, coalesce(s.position, 0) AS position,
    EXISTS (SELECT FROM scoring_queue WHERE due_at <= now() OR claimed_until > now())
        OR EXISTS (SELECT FROM runs WHERE status IN ('queued', 'running')) OR {import_items.OPEN} AS scoring
FROM (SELECT) AS always LEFT JOIN corpus_head h ON true LEFT JOIN settlement s ON true
"""

_MANY_CHANGED = """
SELECT (SELECT count(*) FROM items WHERE change > %(position)s)
    >= %(share)s * (SELECT count(*) FROM items WHERE NOT deleted)
"""

_UNRECONCILED = """
SELECT h.project_id FROM corpus_head h LEFT JOIN settlement s ON s.project_id = h.project_id
    LEFT JOIN projects p ON p.project_id = h.project_id
WHERE h.head <> coalesce(s.position, 0) AND coalesce(p.automatic_suggestions, %s) ORDER BY h.project_id
"""
# There is no row until something of a project was reconciled.
_PUT = "INSERT INTO settlement (only_row, position) VALUES (true,"


@dataclass(frozen=True, slots=True)
class State:
    """The copy is at `head`; up to `position` everything is reconciled.

    `scoring`: something is scored, or imported, just now.
    """

    head: int
    position: int
    scoring: bool


async def unreconciled(connection: Connection, *, automatic: bool) -> list[str]:
    """Return the projects in which something is not reconciled that is to be; those that the connection sees.

    `automatic`: whether those that say nothing of it want suggestions of the background.
    """
    return await fetch_column(connection, _UNRECONCILED, (automatic,))


async def state(connection: Connection) -> State:
    """Return how far the copy is, and how far the sweep."""
    return await fetch_only(connection, State, _STATE)


async def many_changed(connection: Connection, position: int, share: float) -> bool:
    """Check whether at least this share of the items has changed since `position`."""
    return bool(await fetch_value(connection, _MANY_CHANGED, {"position": position, "share": share}))


async def advance(connection: Connection, before: State) -> None:
    """Store that everything up to the head of `before` is reconciled, unless that was reset since."""
    await connection.execute(
        f"{_PUT} %s) ON CONFLICT (project_id, only_row) DO UPDATE SET position = excluded.position"
        " WHERE settlement.position = %s",
        (before.head, before.position),
    )


async def skip(connection: Connection) -> None:
    """Store that everything is reconciled as it is now."""
    await connection.execute(
        f"{_PUT} coalesce((SELECT head FROM corpus_head), 0))"
        " ON CONFLICT (project_id, only_row) DO UPDATE SET position = excluded.position"
    )


async def reset(connection: Connection) -> None:
    """Have everything reconciled again: pending suggestions may have a score of another scale, or of the past."""
    await connection.execute(
        f"{_PUT} -1) ON CONFLICT (project_id, only_row) DO UPDATE SET position = settlement.position - 1"
    )

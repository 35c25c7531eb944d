"""Table `settlement`: one row, up to which change of the corpus what is pending was reconciled by a rescore sweep."""

from dataclasses import dataclass

from chassis.db.database import Connection
from chassis.db.rows import fetch_only, fetch_value
from suggestion_service.store import import_items

_STATE = f"""
SELECT h.head, s.position,
    EXISTS (SELECT FROM scoring_queue WHERE due_at <= now() OR claimed_until > now())
        OR EXISTS (SELECT FROM runs WHERE status IN ('queued', 'running')) OR {import_items.OPEN} AS scoring
FROM corpus_head h, settlement s
"""

_MANY_CHANGED = """
SELECT (SELECT count(*) FROM items WHERE change > %(position)s)
    >= %(share)s * (SELECT count(*) FROM items WHERE NOT deleted)
"""


@dataclass(frozen=True, slots=True)
class State:
    """The copy is at `head`; up to `position` everything is reconciled.

    `scoring`: something is scored, or imported, just now.
    """

    head: int
    position: int
    scoring: bool


async def state(connection: Connection) -> State:
    """Return how far the copy is, and how far the sweep."""
    return await fetch_only(connection, State, _STATE)


async def many_changed(connection: Connection, position: int, share: float) -> bool:
    """Check whether at least this share of the items has changed since `position`."""
    return bool(await fetch_value(connection, _MANY_CHANGED, {"position": position, "share": share}))


async def advance(connection: Connection, before: State) -> None:
    """Store that everything up to the head of `before` is reconciled, unless that was reset since."""
    await connection.execute("UPDATE settlement SET position = %s WHERE position = %s", (before.head, before.position))


async def skip(connection: Connection) -> None:
    """Store that everything is reconciled as it is now."""
    await connection.execute("UPDATE settlement SET position = (SELECT head FROM corpus_head)")


async def reset(connection: Connection) -> None:
    """Have everything reconciled again: pending suggestions may have a score of another scale, or of the past."""
    await connection.execute("UPDATE settlement SET position = position - 1")

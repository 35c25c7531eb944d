"""How far the search for links is: what waits to be scored, and what catalog has told that has not arrived yet."""

from dataclasses import dataclass

import orjson

from chassis.core import projects
from chassis.core.problems import Unavailable
from chassis.db.database import Database
from chassis.db.rows import fetch_only
from chassis.messaging.feed import changes_of
from chassis.messaging.outbox import Changes, read_changes
from chassis.web.peers import Peer
from contracts import catalog
from suggestion_service.scale import Scales
from suggestion_service.store import import_items, runs, scoring_queue

_LOOKED_AT = 250
_LEADS_TO_SCORING = frozenset(
    event.wire_name
    for event in (
        catalog.RequirementCreated,
        catalog.RequirementUpdated,
        catalog.TestCaseCreated,
        catalog.TestCaseUpdated,
        catalog.ImportApplied,
    )
)

# All by one statement: what has arrived after its snapshot is told by the place in catalog's feed.
_STATE = f"""
SELECT w.waiting, r.id IS NOT NULL AS runs, coalesce(r.progress, 0) AS progress,
    CASE WHEN r.id IS NOT NULL THEN (SELECT count(*) FROM items WHERE NOT deleted) ELSE 0 END AS items,
    CASE WHEN w.waiting > 0 THEN (SELECT count(*) FROM items WHERE NOT deleted
        AND change > coalesce((SELECT position FROM settlement), 0)) ELSE 0 END AS changed,
    coalesce((SELECT position FROM inbox_positions WHERE source = 'catalog'), 0) AS position
FROM (SELECT ({scoring_queue.COUNT}) + ({import_items.COUNT}) AS waiting) w LEFT JOIN ({runs.GOING_ON}) r ON true
"""


@dataclass(frozen=True, slots=True)
class _State:
    """`changed` of the items have changed since everything was last scored; `position` is that in catalog's feed."""

    waiting: int
    runs: bool
    progress: float
    items: int
    changed: int
    position: int


@dataclass(frozen=True, slots=True)
class Looking:
    """Of `total` items `done` were compared with the other side."""

    is_complete: bool
    done: int
    total: int


async def progress(database: Database, peer: Peer, scales: Scales) -> Looking:
    """Return how far the search is; while catalog does not say what has changed, it is not complete."""
    async with database.connection() as connection:
        state = await fetch_only(connection, _State, _STATE)
        is_wanted = (await scales.wishes(connection)).automatic
    if state.runs:
        return Looking(False, int(state.progress * state.items), state.items)
    if state.waiting:
        total = max(state.changed, state.waiting)
        return Looking(False, total - state.waiting, total)
    ahead = await _ahead(peer, state.position) if is_wanted else 0
    return Looking(ahead == 0, 0, 0 if ahead is None else ahead)


async def _ahead(peer: Peer, position: int) -> int | None:
    """Return how many changes behind a place of catalog's feed are to be scored; None: perhaps some.

    A feed that has gone on for a page or more is not read to its end, and one that does not answer may have some.
    """
    try:
        page = read_changes(await changes_of(peer, position, _LOOKED_AT), position)
    except Unavailable:
        return None
    return _to_be_scored(page) or (None if page.last < page.head else 0)


def _to_be_scored(page: Changes) -> int:
    told = [orjson.loads(event) for event in page.events]
    here = projects.current.get()
    return sum(one["type"] in _LEADS_TO_SCORING and one.get("project", projects.MAIN) == here for one in told)

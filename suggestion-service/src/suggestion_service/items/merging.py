"""Brings the copy to what its rebuilt tables say."""

from collections import Counter
from collections.abc import Mapping

from chassis.core import projects
from chassis.db.database import Connection, in_another_project
from chassis.messaging.rebuild import Reach
from suggestion_service.store import corpus_head, items, linked_pairs, scoring_queue, suggestions


async def merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    """Put items and linked pairs right; queue items whose text differs, delete suggestions of items that are gone.

    Project by project, on a connection that sees all of them.
    """
    corrected: Counter[str] = Counter({"items": 0, "linked_pairs": 0, "suggestions": 0})
    for project in await corpus_head.known_to_rebuild(connection):
        with projects.across():
            async with in_another_project(connection, project):
                corrected.update(await _merge(connection, reach))
    return corrected


async def _merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    change = await corpus_head.lock_real(connection)
    corrected = {
        "items": await items.merge(connection, change, reach),
        "linked_pairs": await linked_pairs.merge(connection, reach),
    }
    if any(corrected.values()):
        await corpus_head.move_real(connection, change)
    await scoring_queue.remove_gone(connection)
    return corrected | {"suggestions": await suggestions.delete_gone(connection)}

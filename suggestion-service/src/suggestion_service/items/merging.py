"""Brings the copy to what its rebuilt tables say."""

from collections.abc import Mapping

from chassis.db.database import Connection
from chassis.messaging.rebuild import Reach
from suggestion_service.store import corpus_head, items, linked_pairs, scoring_queue, suggestions


async def merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    """Put items and linked pairs right; queue items whose text differs, delete suggestions of items that are gone."""
    change = await corpus_head.lock_real(connection)
    corrected = {
        "items": await items.merge(connection, change, reach),
        "linked_pairs": await linked_pairs.merge(connection, reach),
    }
    if any(corrected.values()):
        await corpus_head.move_real(connection, change)
    await scoring_queue.remove_gone(connection)
    return corrected | {"suggestions": await suggestions.delete_gone(connection)}

"""Brings projects over to a new version of the scores, or to a language that they name: once, in place.

Texts are read and pending suggestions scored anew.

What is pending is scored by a run that suggests nothing; what is missing comes with the rescore sweep, which is due
then.
"""

import asyncio
import logging
from datetime import UTC, datetime
from uuid import UUID, uuid4

from chassis.core import projects
from chassis.db.database import Database
from chassis.messaging.events import SYSTEM
from suggestion_service.engine import ItemText, read_terms
from suggestion_service.scale import Scales
from suggestion_service.store import corpus_head, items, outdated_scales, runs, suggestions
from suggestion_service.store import projects as wishes
from suggestion_service.store.items import KnownItem
from suggestion_service.store.run_request import RunRequest

_log = logging.getLogger(__name__)

_AT_ONCE = 500


class NewScale:
    """Works off the projects that an older version, or another language, has left."""

    def __init__(self, database: Database, scales: Scales) -> None:
        self._database = database
        self._scales = scales

    async def bring_over(self) -> None:
        """Bring all projects over that are outdated; who is stopped goes on from there the next time."""
        async with self._database.across() as connection:
            outdated = await outdated_scales.projects(connection)
        for project in outdated:
            with projects.within(project):
                while await self._read_some():
                    pass

    async def _read_some(self) -> bool:
        """Read some items anew; when there are none left, queue the run that scores. Return whether to go on."""
        async with self._database.transaction() as connection:
            await corpus_head.lock(connection)
            position = await outdated_scales.lock(connection)
            if position is None:
                return False
            some = await items.after(connection, position, _AT_ONCE)
            if some:
                language = (await wishes.get(connection)).language
                await items.put_terms(connection, await asyncio.to_thread(_terms, some, language))
                await outdated_scales.move(connection, some[-1].id)
                return True
            await outdated_scales.finish(connection)
            if await suggestions.any_pending(connection):
                wanted = await self._scales.of_run(connection)
                request = RunRequest(
                    uuid4(), wanted.algorithm, wanted.threshold, True, SYSTEM, str(uuid4()), pending_only=True
                )
                background = (await self._scales.wishes(connection)).algorithm
                await runs.insert(connection, request, datetime.now(UTC), background)
        _log.info("All texts are read anew, and pending suggestions get scores of the present scale")
        return False


def _terms(some: list[KnownItem], language: str | None) -> dict[UUID, tuple[dict[str, int], str]]:
    return {item.id: read_terms(ItemText(**item.text, module=item.module, tags=item.tags), language) for item in some}

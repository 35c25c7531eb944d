"""Follows the service's own feed: records CoverageChanged, and CoverageDropped once a crossing of the threshold.

Position, projection and event are one transaction under a lock: neither a crash nor a second replica
publishes a crossing twice or never.
"""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson

from catalog_service.coverage import repository
from catalog_service.coverage.repository import State
from catalog_service.projects import repository as wishes
from chassis.core import projects
from chassis.db.database import Connection, Database, in_project
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, NewEvent
from contracts.catalog import (
    CoverageChanged,
    CoverageDropped,
    ImportApplied,
    LinkCreated,
    LinkDeleted,
    RequirementCreated,
    RequirementDeleted,
)

_log = logging.getLogger(__name__)
_BATCH = 500
_POLL = 1.0
_PAUSE = 0.25
"""Seconds after a batch that was not full: while others write, it costs little more to take what comes until then."""
_LONGEST = timedelta(minutes=5)
"""A record that is never at rest is judged so often all the same."""
_REQUIREMENT_EVENTS = {RequirementCreated.wire_name, RequirementDeleted.wire_name}
_FOLLOWED = {*_REQUIREMENT_EVENTS, LinkCreated.wire_name, LinkDeleted.wire_name, ImportApplied.wire_name}


_CAUSE = ("id", "correlationid", "gatewayrequestid", "traceparent")


class CoverageProjector:
    """Follows coverage event by event, and judges it when the record has been at rest, however the events come in.

    Coverage is the share of requirements with at least one link; while there is no requirement nothing is
    decided. Below the threshold from the start is no drop. Who enters requirements and then links them, or exchanges
    one link for another, passes below the threshold and has dropped nothing: that is why rest is waited for. Rest is
    measured by the times of the events, so that those of an hour that come at once are judged as they would have been.
    An import is no rest before its end, however long its events take to come: its requirements come before its links.
    """

    def __init__(self, database: Database, threshold: float, rest: float = 10.0) -> None:
        """`threshold`: 0..1. `rest`: seconds without a change before coverage is judged, at most `_LONGEST`."""
        self._database = database
        self._threshold = threshold
        self._rest = timedelta(seconds=rest)
        self._told: dict[str, tuple[int, int]] = {}
        """By project, the figures that were told last, or were there when this one first looked."""
        self._untold: set[str] = set()
        """The projects whose figures may have changed since."""

    async def run(self) -> None:
        """Follow the feed for ever; idle, it costs one small query a second."""
        while True:
            if await self._has_work():
                while (applied := await self.project()) > 0:
                    if applied < _BATCH:
                        await asyncio.sleep(_PAUSE)
            await asyncio.sleep(_POLL)

    async def _has_work(self) -> bool:
        async with self._database.across() as connection:
            return await repository.has_work(connection)

    async def project(self) -> int:
        """Apply the next batch of numbered events; return how many they were, 0 when there is none.

        When there is none, coverage is told if it has changed, and judged if the record is at rest.
        """
        with projects.across():
            async with self._database.transaction() as connection:
                position = await repository.lock_position(connection)
                feed = await repository.read_feed(connection, position, _FOLLOWED, _BATCH)
                of_project: dict[str, list[tuple[str, dict[str, Any]]]] = {}
                for project, _, wire_name, envelope in feed:
                    followed = of_project.setdefault(project, [])
                    if envelope is not None:
                        followed.append((wire_name, orjson.loads(envelope)))
                if not feed:
                    unsettled = {*await repository.unjudged_projects(connection), *self._untold}
                    of_project = {project: [] for project in sorted(unsettled)}
                changed, drops = {}, []
                for project, events in of_project.items():
                    async with in_project(connection, project):
                        state = await repository.lock_state(connection)
                        wanted = (await wishes.get(connection)).coverage_threshold
                        threshold = self._threshold if wanted is None else wanted
                        self._told.setdefault(project, _figures(state))
                        if feed:
                            happened = await self._apply_batch(connection, state, events, threshold)
                            changes: list[NewEvent] = []
                            state.position = feed[-1][1]
                        else:
                            happened = self._judge(state, datetime.now(UTC), threshold)
                            changes = self._changes(project, state)
                        await repository.save_state(connection, state)
                        await outbox.record(connection, [*happened, *changes])
                    drops += happened
                    if changes:
                        changed[project] = _figures(state)
        self._told |= changed
        self._untold = self._untold | of_project.keys() if feed else set()
        for drop in drops:
            _log.info("Coverage of %s fell below the threshold: %s", drop.project, drop.data.model_dump_json())
        return len(feed)

    async def _apply_batch(
        self, connection: Connection, state: State, events: list[tuple[str, dict[str, Any]]], threshold: float
    ) -> list[NewEvent]:
        """Bring state and link counts up to date; return the drops on the way."""
        concerned = [_requirement_id(wire_name, event) for wire_name, event in events]
        before = await repository.link_counts(connection, {one for one in concerned if one is not None})
        links = dict(before)
        drops = []
        for requirement_id, (wire_name, event) in zip(concerned, events, strict=True):
            at = datetime.fromisoformat(event["time"])
            drops += self._judge(state, at, threshold)
            _note_import(state, wire_name, event)
            if requirement_id is not None:
                _apply(state, links, wire_name, requirement_id)
                state.unjudged_since = state.unjudged_since or at
            if state.unjudged_since is not None:
                state.changed_at, state.cause = at, {name: event.get(name) for name in _CAUSE}
        await repository.save_link_counts(
            connection, {key: count for key, count in links.items() if before.get(key) != count}
        )
        await repository.delete_link_counts(connection, before.keys() - links.keys())
        return drops

    def _changes(self, project: str, state: State) -> list[NewEvent]:
        covered, total = figures = _figures(state)
        if figures == self._told[project]:
            return []
        changed = CoverageChanged(
            coverage=covered / total if total else 0, covered_requirements=covered, total_requirements=total
        )
        return [NewEvent(changed, "coverage", SYSTEM)]

    def _judge(self, state: State, now: datetime, threshold: float) -> list[NewEvent]:
        """Judge coverage if it has changed and is at rest at that time; return the event of a drop, if it is one."""
        if state.unjudged_since is None or state.changed_at is None or state.cause is None:
            return []
        if state.open_imports:
            if now - state.changed_at < _LONGEST:
                return []
            # It has died.
            state.open_imports.clear()
        if now - state.changed_at < self._rest and now - state.unjudged_since < _LONGEST:
            return []
        cause, state.unjudged_since, state.changed_at, state.cause = state.cause, None, None, None
        return [_drop(state, cause, threshold)] if _has_dropped(state, threshold) else []


def _has_dropped(state: State, threshold: float) -> bool:
    """Check whether coverage has fallen below the threshold, and note on which side it is."""
    if state.total_requirements == 0:
        return False
    was_reached = state.reached
    state.reached = state.covered_requirements / state.total_requirements >= threshold
    return was_reached and not state.reached


def _drop(state: State, cause: dict[str, Any], threshold: float) -> NewEvent:
    return NewEvent(
        CoverageDropped(
            coverage=state.covered_requirements / state.total_requirements,
            threshold=threshold,
            covered_requirements=state.covered_requirements,
            total_requirements=state.total_requirements,
        ),
        "coverage",
        SYSTEM,
        causation_id=cause["id"],
        correlation_id=cause["correlationid"],
        gateway_request_id=cause["gatewayrequestid"],
        traceparent=cause["traceparent"],
    )


def _figures(state: State) -> tuple[int, int]:
    return state.covered_requirements, state.total_requirements


def _note_import(state: State, wire_name: str, event: dict[str, Any]) -> None:
    """Note that an import goes on, or has ended."""
    if event.get("batchid") is None:
        return
    import_id = UUID(event["batchid"])
    if wire_name == ImportApplied.wire_name:
        state.open_imports = [one for one in state.open_imports if one != import_id]
    elif import_id not in state.open_imports:
        state.open_imports.append(import_id)


def _requirement_id(wire_name: str, event: dict[str, Any]) -> UUID | None:
    """Return the requirement that an event is about; None for the end of an import."""
    if wire_name == ImportApplied.wire_name:
        return None
    data = event["data"]
    return UUID(data["requirement"]["id"] if wire_name in _REQUIREMENT_EVENTS else data["link"]["requirement_id"])


def _apply(state: State, links: dict[UUID, int], wire_name: str, requirement_id: UUID) -> None:
    """Apply one event. A link of a requirement that is gone, or whose deletion came first, counts for nothing."""
    if wire_name == RequirementCreated.wire_name:
        links[requirement_id] = 0
        state.total_requirements += 1
    elif requirement_id not in links:
        return
    elif wire_name == RequirementDeleted.wire_name:
        state.total_requirements -= 1
        state.covered_requirements -= links.pop(requirement_id) > 0
    elif wire_name == LinkCreated.wire_name:
        links[requirement_id] += 1
        state.covered_requirements += links[requirement_id] == 1
    else:
        links[requirement_id] -= 1
        state.covered_requirements -= links[requirement_id] == 0

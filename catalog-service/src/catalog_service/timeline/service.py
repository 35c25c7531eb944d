"""Timelines as they are answered: names of what entries are about, and what versions say differently."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from psycopg.types.json import Json

from catalog_service.fields.definitions import PREFIX
from catalog_service.fields.values import values_of
from catalog_service.history import repository as history
from catalog_service.history.service import SECONDS, compare_texts, text_of
from catalog_service.items.kinds import BRIEF, KINDS, ItemKind
from catalog_service.snapshot import snapshot
from catalog_service.timeline import repository
from catalog_service.timeline.schemas import TimelineGroup, TimelineKind
from chassis.db.database import Connection, Database
from chassis.messaging.events import Received
from chassis.web.costly import Deadline, in_thread
from chassis.web.listing import Fetched, PageRequest, Row
from contracts.suggestion import ReviewedSuggestion, SuggestionReviewed, SuggestionsBulkReviewed

_CHANGES = frozenset({TimelineKind.CHANGED, TimelineKind.LINK_CHANGED, TimelineKind.LINK_CONFIRMED})
_NOTHING: Row = {"differences": {}, "coarse": []}


async def timeline(
    database: Database, kind: ItemKind, item_id: UUID, groups: Collection[TimelineGroup], wanted: PageRequest
) -> Fetched:
    """Return a page of what happened to an item, the newest first; raise NotFound. A deleted item keeps its own."""
    async with snapshot(database) as connection:
        if await history.find_item(connection, kind, item_id) is None:
            raise kind.not_found()
        return await read_page(connection, kind, item_id, groups, wanted)


async def read_page(
    connection: Connection, kind: ItemKind, item_id: UUID, groups: Collection[TimelineGroup], wanted: PageRequest
) -> Fetched:
    """Return the same of an item that is there."""
    found = await repository.find_page(connection, kind, item_id, groups, wanted)
    compared = await in_thread(SECONDS, lambda deadline: [_compared(kind, row, deadline) for row in found.rows])
    entries = [{**_entry(kind, row), **of} for row, of in zip(found.rows, compared, strict=True)]
    return found._replace(rows=entries)


def _compared(kind: ItemKind, row: Row, deadline: Deadline) -> Row:
    """Return what a version says differently from the one before it, word by word."""
    if row["kind"] != TimelineKind.CHANGED:
        return _NOTHING
    told: Row = row["told"]
    texts = {name: _pair(name, told[name]) for name in kind.meaning if name in told}
    sides = told.get("custom_metadata") or {}
    before, after = (values_of(sides.get(side)) for side in ("before", "after"))
    for key in {**before, **after}:
        if before.get(key) != after.get(key):
            texts[f"{PREFIX}{key}"] = text_of(key, before.get(key)), text_of(key, after.get(key))
    return compare_texts(texts, deadline) if texts else _NOTHING


def _pair(name: str, change: Mapping[str, Any]) -> tuple[str, str]:
    return text_of(name, change["before"]), text_of(name, change["after"])


def _entry(kind: ItemKind, row: Row) -> Row:
    told: Row = row["told"] or {}
    is_change = row["kind"] in _CHANGES
    of = {} if is_change else told
    result = row["result"]
    return {
        **{name: row[name] for name in ("id", "at", "kind", "actor", "version", "link_id", "import_id")},
        "changes": told if is_change else {},
        "item": _item(kind, row, told),
        **{name: of.get(name) for name in ("link_type", "link_source", "suggestion_id")},
        "score": of.get("confidence_score"),
        "note": of.get("notes"),
        "suspected_by": of.get("side"),
        "fields": of.get("fields") or [],
        "result": None if result is None else {"status": of["status"], "before": of["before"], **result},
    }


def _item(kind: ItemKind, row: Row, told: Row) -> Row | None:
    """Return the item at the other end in short; of one that was deleted, what it was called when its link went."""
    if row["item_id"] is None:
        return None
    short = {name: row[f"item_{name}"] for name in BRIEF}
    if short["title"] is None:
        (other,) = (one for one in KINDS if one is not kind)
        short |= {name: told.get(f"{other.name}_{name}") for name in ("external_id", "title")}
    return {**short, "title": short["title"] or ""}


async def remember_review(connection: Connection, events: list[Received[SuggestionReviewed]]) -> None:
    """Store suggestions that were rejected."""
    await _remember(connection, [(event, [event.data.suggestion]) for event in events])


async def remember_reviews(connection: Connection, events: list[Received[SuggestionsBulkReviewed]]) -> None:
    """Do the same for those of one review."""
    await _remember(connection, [(event, list(event.data.suggestions)) for event in events])


async def _remember(connection: Connection, told: list[tuple[Received[Any], list[ReviewedSuggestion]]]) -> None:
    rows = [
        {
            "suggestion_id": one.id,
            "reviewed_at": event.time,
            "requirement_id": one.requirement_id,
            "test_case_id": one.test_case_id,
            "actor": event.actor.email,
            "score": one.similarity_score,
            "note": one.feedback,
        }
        for event, suggestions in told
        for one in suggestions
        if one.status == "rejected"
    ]
    if rows:
        await connection.execute(repository.REMEMBER_REVIEWS, (Json(rows),))

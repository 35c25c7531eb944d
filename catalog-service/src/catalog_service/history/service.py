"""What items said before: every change, the state of any version, and how two versions differ."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

import orjson

from catalog_service.fields import repository as project_fields
from catalog_service.fields.definitions import PREFIX, Fields
from catalog_service.fields.values import values_of
from catalog_service.history import repository, word_diff
from catalog_service.history.repository import ItemChange
from catalog_service.items import suspicion
from catalog_service.items.kinds import ItemKind
from catalog_service.items.suspicion import Side
from catalog_service.links import service as links
from catalog_service.relations import service as relations
from catalog_service.relations import suspicion as suspicion_of_relations
from catalog_service.snapshot import snapshot
from chassis.core.problems import FieldError, Invalid
from chassis.db.database import Connection, Database
from chassis.web.costly import Deadline, in_thread
from chassis.web.listing import Fetched, PageRequest, Row

_IN_EVERY_ENTRY = frozenset({"id", "position", "version", "created_at", "updated_at"})
"""Fields that are in every entry by themselves."""


SECONDS = 2
"""Of work, for the comparison of two states of an item."""
_ALL = PageRequest(repository.NEWEST_FIRST, None)


class Entry(TypedDict):
    """One change of an item, as it is answered."""

    action: str
    actor: str | None
    occurred_at: datetime
    from_version: int | None
    to_version: int | None
    changes: Row


@dataclass(frozen=True, slots=True)
class Versions:
    """Two versions of an item, of which each may be left out: until the present one, or from the one before."""

    first: int | None
    last: int | None

    @property
    def are_given(self) -> bool:
        """Whether at least one of them is named."""
        return self.first is not None or self.last is not None

    def of(self, present: int) -> tuple[int, int]:
        """Return both; raises Invalid for one that there is not."""
        named = (("from", self.first), ("to", self.last))
        errors = [
            FieldError(
                f"/query/{name}",
                f"There is no version {version}; this item has had versions 1 to {present}.",
                "unknown_version",
            )
            for name, version in named
            if version is not None and not 1 <= version <= present
        ]
        if errors:
            raise Invalid.fields(errors)
        last = present if self.last is None else self.last
        return max(1, last - 1) if self.first is None else self.first, last


async def history(
    database: Database, kind: ItemKind, item_id: UUID, versions: Versions, wanted: PageRequest
) -> tuple[Fetched, Row]:
    """Return (a page of entries, newest first; what two versions differ in, if any is given).

    Raises NotFound, and Invalid for a version that there is not. An item that was deleted keeps its history.
    """
    async with snapshot(database) as connection:
        item = await repository.find_item(connection, kind, item_id)
        if item is None:
            raise kind.not_found()
        if not versions.are_given:
            found = await repository.find_changes(connection, item_id, 0, item["version"], wanted)
            return await _with_creation(connection, kind, item, wanted, found), {}
        first, last = versions.of(item["version"])
        own = await project_fields.of(connection)
        low, high = sorted((first, last))
        found = await repository.find_changes(connection, item_id, low, high, wanted)
        before, after = [item | await repository.find_values(connection, item_id, number) for number in (first, last)]
    return (
        found._replace(rows=[_entry(kind, change) for change in found.rows]),
        {"from_version": first, "to_version": last, **await _differences(kind, own, before, after)},
    )


async def _with_creation(
    connection: Connection, kind: ItemKind, item: Row, wanted: PageRequest, found: Fetched
) -> Fetched:
    """Return the entries of a page of changes, and behind the last change the creation, which is none of them."""
    assert wanted.limit is not None, "a history is read page by page"
    entries, end = [_entry(kind, change) for change in found.rows], found.end
    if end is None and wanted.skip <= found.total:
        if len(entries) < wanted.limit:
            entries.append(await _creation(connection, kind, item))
        else:
            end = wanted.order.position(found.rows[-1])
    return Fetched(entries, found.total + 1, end)


def _entry(kind: ItemKind, change: ItemChange) -> Entry:
    content, version = change["told"], change["version"]
    if change["action"] == "deleted":
        changes = {name: {"before": content[name], "after": None} for name in kind.columns if _is_shown(content, name)}
        before, after = version, None
    else:
        changes = content
        before, after = version - bool(meant(kind, change)), version
    return {
        "action": change["action"],
        "actor": change["actor"],
        "occurred_at": change["occurred_at"],
        "from_version": before,
        "to_version": after,
        "changes": changes,
    }


def meant(kind: ItemKind, change: Mapping[str, Any]) -> list[str]:
    """Return the fields of meaning that a change is of, those of the project as `field.KEY`."""
    told = change["told"]
    sides = told.get("custom_metadata") or {}
    before, after = (values_of(sides.get(side)) for side in ("before", "after"))
    keys = [name.removeprefix(PREFIX) for name in change["revised"] or () if name.startswith(PREFIX)]
    own = [f"{PREFIX}{key}" for key in keys if before.get(key) != after.get(key)]
    return [*(name for name in kind.meaning if name in told), *own]


async def _creation(connection: Connection, kind: ItemKind, item: Row) -> Entry:
    first = item | await repository.find_values(connection, item["id"], 0)
    return {
        "action": "created",
        "actor": await repository.find_creator(connection, item["id"]) or first["created_by"],
        "occurred_at": item["created_at"],
        "from_version": None,
        "to_version": 1,
        "changes": {name: {"before": None, "after": first[name]} for name in kind.columns if _is_shown(first, name)},
    }


def _is_shown(item: Row, name: str) -> bool:
    return name not in _IN_EVERY_ENTRY and item[name] not in (None, []) and item[name] is not False


async def suspicion_of(database: Database, link_id: UUID) -> Row:
    """Return what both items of a link said when it was made or last confirmed, compared to now; raises NotFound."""
    async with snapshot(database) as connection:
        link = await links.LINKS.get(connection, link_id)
        compared = await _compared(connection, link, links.ends(link), suspicion.SIDES)
    return {"link_id": link_id, **_told(link, suspicion.reason(link)), **await compared()}


async def suspicion_of_relation(database: Database, relation_id: UUID) -> Row:
    """Return what both requirements of a relation said when it was made or last confirmed; raises NotFound."""
    async with snapshot(database) as connection:
        relation = await relations.RELATIONS.get(connection, relation_id)
        compared = await _compared(connection, relation, relations.ends(relation), suspicion_of_relations.SIDES)
    return {
        "relation_id": relation_id,
        **_told(relation, suspicion_of_relations.reason(relation)),
        **await compared(),
    }


def _told(joining: Mapping[str, Any], why: Row | None) -> Row:
    return {
        "suspect": why is not None,
        "summary": None if why is None else why["summary"],
        "since": joining["confirmed_at"] or joining["created_at"],
    }


async def _compared(
    connection: Connection, joining: Mapping[str, Any], short: Row, of: Sequence[Side]
) -> Callable[[], Awaitable[Row]]:
    """Read both sides of a link or a relation; return what compares them, which needs no connection."""
    sides = [(side, await _side(connection, side, joining)) for side in of]
    own = await project_fields.of(connection)

    async def compare() -> Row:
        return {
            side.name: {
                **short[side.name],
                "from_version": joining[f"{side.name}_version"],
                "to_version": joining[f"{side.name}_version_now"],
                **await _differences(side.kind, own, before, after),
                "changed_by": changed_by,
            }
            for side, (before, after, changed_by) in sides
        }

    return compare


async def _side(connection: Connection, side: Side, joining: Mapping[str, Any]) -> tuple[Row, Row, list[Row]]:
    """Return an item as it was for the link or relation, as it is, and who changed its meaning, the newest first."""
    kind = side.kind
    item_id, then, now = (joining[f"{side.name}_{what}"] for what in ("id", "version", "version_now"))
    item = await repository.find_item(connection, kind, item_id)
    assert item is not None, "its link or relation keeps it"
    if now == then:
        return item, item, []
    found = await repository.find_changes(connection, item_id, then, now, _ALL)
    changed_by = [
        {
            "actor": entry["actor"],
            "occurred_at": entry["occurred_at"],
            "to_version": entry["to_version"],
            "fields": meant(kind, change),
        }
        for change in found.rows
        for entry in (_entry(kind, change),)
        if entry["from_version"] != entry["to_version"]
    ]
    return item | await repository.find_values(connection, item_id, then), item, changed_by


async def _differences(kind: ItemKind, own: Fields, before: Row, after: Row) -> Row:
    """Return `differences`, the fields of meaning in which two states of an item differ, each with its segments, and
    `coarse`, those of them that were not all compared word by word.
    """
    texts = {name: (text_of(name, before[name]), text_of(name, after[name])) for name in kind.meaning}
    old, new = (values_of(item["custom_metadata"]) for item in (before, after))
    texts |= {
        f"{PREFIX}{key}": (text_of(key, old.get(key)), text_of(key, new.get(key))) for key in own.meaning[kind.name]
    }
    changed = {name: pair for name, pair in texts.items() if pair[0] != pair[1]}
    if not changed:
        return {"differences": {}, "coarse": []}
    return await in_thread(SECONDS, lambda deadline: compare_texts(changed, deadline))


async def compare(values: Mapping[str, tuple[Any, Any]]) -> Row:
    """Return how fields differ, word by word, as `differences` and `coarse` of an answer do."""
    texts = {name: (text_of(name, before), text_of(name, after)) for name, (before, after) in values.items()}
    return await in_thread(SECONDS, lambda deadline: compare_texts(texts, deadline))


def compare_texts(texts: Mapping[str, tuple[str, str]], deadline: Deadline) -> Row:
    """Return `differences` and `coarse` of pairs of texts by name, those that differ."""
    compared = {name: word_diff.differences(*pair, deadline.is_over) for name, pair in texts.items()}
    return {
        "differences": {name: [segment._asdict() for segment in of.segments] for name, of in compared.items()},
        "coarse": [name for name, of in compared.items() if of.coarse],
    }


def text_of(name: str, value: Any) -> str:
    """Return a field as a text that can be compared: steps one a line, other objects as JSON."""
    if value is None:
        return ""
    if name == "steps":
        return "\n".join(f"{number}. {value[number]}" for number in sorted(value, key=int))
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, dict):
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    return str(value)

"""Moves items in their outline, many as one act, and tells what its sections hold."""

from collections.abc import Sequence
from uuid import UUID

from catalog_service.fields.definitions import NONE
from catalog_service.items import repository as items
from catalog_service.items.kinds import ItemKind
from catalog_service.items.service import updated
from catalog_service.outline import repository
from catalog_service.outline.schemas import Move, Place
from catalog_service.sections.positions import SEPARATOR, keys_between, split
from catalog_service.sections.repository import section_key
from chassis.core.problems import Conflict, Invalid
from chassis.db.database import Connection
from chassis.messaging.events import Actor
from chassis.web.conditions import Conditions
from chassis.web.listing import Row

_BEHIND_ALL_BELOW = f"{SEPARATOR}~"
"""Behind the key of a section: behind all that is in it."""


async def move(connection: Connection, kind: ItemKind, body: Move, actor: Actor) -> Row:
    """Move items, all or none, and return where they are. No place raises a version.

    Raises NotFound for an item that is not there, Invalid for a place that is none, Conflict for one that has been
    moved since.
    """
    await repository.lock(connection, kind)
    ids = list(dict.fromkeys(body.ids or [place.id for place in body.places]))
    rows = {row["id"]: row for row in await items.lock_all(connection, kind, ids, Conditions(), "FOR NO KEY UPDATE")}
    if len(rows) < len(ids):
        raise kind.not_found()
    if body.places:
        places = await _back(connection, kind, rows, body.places)
    else:
        places = await _places(connection, kind, ids, body)
    updates = [update for one in ids if (update := updated(kind, rows[one], places[one], actor, NONE)) is not None]
    if updates:
        await items.update_all(connection, kind, updates)
    return {
        "moved": len(updates),
        "items": [
            {**{name: one.row[name] for name in ("id", "section", "position")}, "etag": kind.etag(one.row)}
            for one in updates
        ],
        "undo": {"places": [_place_of(rows[one.row["id"]], one.row["position"]) for one in updates]},
    }


def _place_of(row: Row, now_at: str) -> Row:
    return {"id": row["id"], "section": row["section"], "position": row["position"], "from_position": now_at}


async def _back(
    connection: Connection, kind: ItemKind, rows: dict[UUID, Row], places: Sequence[Place]
) -> dict[UUID, Row]:
    """Return the places that items had before a move; raise where one has been moved since, or never had such a one."""
    for place in places:
        if rows[place.id]["position"] != place.from_position:
            raise Conflict(
                "Somebody has moved one of these since: what is there now stays. Move them by hand.",
                code="moved_since",
                members={kind.name: {"id": place.id}},
            )
        if await section_key(connection, kind.name, place.section) != split(place.position)[0]:
            raise Invalid.field("/places", "A position here is none of its section.", "unknown_place")
    return {place.id: {"section": place.section, "position": place.position} for place in places}


async def _places(connection: Connection, kind: ItemKind, ids: list[UUID], body: Move) -> dict[UUID, Row]:
    other = body.before or body.after
    if other is None:
        section = body.section or []
        within = await section_key(connection, kind.name, section)
        last = await repository.find_before(connection, kind, f"{within}~", ids)
        low, high = _key_in(within, last), None
    else:
        found = await repository.find_place(connection, kind, other)
        if found is None:
            raise kind.not_found()
        section, position = found
        if body.section is not None and body.section != section:
            told = f"The item that they go {'before' if body.before else 'after'} is in another section; leave it out."
            raise Invalid.field("/section", told, "contradiction")
        within, own = split(position)
        if body.before:
            low, high = _key_in(within, await repository.find_before(connection, kind, position, ids)), own
        else:
            behind = await repository.find_behind(connection, kind, position + _BEHIND_ALL_BELOW, ids)
            low, high = own, _key_in(within, behind)
    keys = keys_between(low, high, len(ids))
    return {one: {"section": section, "position": within + key} for one, key in zip(ids, keys, strict=True)}


def _key_in(within: str, position: str | None) -> str | None:
    """Return the key that a position has in a section, or that of a section there; None where it is elsewhere."""
    if position is None or not position.startswith(within):
        return None
    return position[len(within) :].partition(SEPARATOR)[0]


async def read_sections(connection: Connection, kind: ItemKind) -> Row:
    """Return the sections that hold something, in the order of the outline."""
    titles: dict[str, list[str]] = {"": []}
    told: dict[str, Row] = {}
    for row in await repository.read_sections(connection, kind):
        key, above = row["position"], row["above"]
        titles[key] = [*titles.get(above, []), row["title"]]
        told[key] = {
            "section": titles[key],
            "position": key,
            "section_text": row["section_text"],
            "items": row["items"],
            "items_below": row["items"],
        }
        while above in told:
            told[above]["items_below"] += row["items"]
            above = split(above.removesuffix(SEPARATOR))[0]
    kept = [one for one in told.values() if one["items_below"] or one["section_text"]]
    return {"sections": kept, "without_section": await repository.count_without(connection, kind)}

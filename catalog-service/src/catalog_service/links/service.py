"""What can be done to links: each change with its event, in the caller's transaction."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from catalog_service.authorship import author
from catalog_service.items.kind import BRIEF, ItemKind
from catalog_service.links import repository, suspicion
from catalog_service.links.schemas import LinkSource
from catalog_service.listing import by_field
from catalog_service.requirements.kind import REQUIREMENT
from catalog_service.test_cases.kind import TEST_CASE
from chassis.core.problems import Conflict, Invalid, NotFound, Problem
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.listing import Row
from contracts.catalog import LinkCreated, LinkDeleted, LinkUpdated

_KINDS = (REQUIREMENT, TEST_CASE)
_UNDONE = Conflict("This acceptance has been undone.", code="acceptance_undone")


def shown(row: Row, prefix: str = "") -> Row:
    """Return a link, read with its titles and versions, as it is answered."""
    why = suspicion.reason(row)
    return {**by_field(row, repository.COLUMNS, prefix), "suspect": why is not None, "suspect_reason": why}


def ends(row: Row, prefix: str = "") -> Row:
    """Return both items of a link in short, as `requirement` and `test_case`."""
    return {
        kind.name: {
            name: row[f"{prefix}{kind.name}_id"] if name == "id" else row[f"{kind.name}_{name}"] for name in BRIEF
        }
        for kind in _KINDS
    }


def shown_linked(row: Row, other: ItemKind) -> Row:
    """Return a row of `repository.find_linked` as it is answered: the item, and its link with both items in short."""
    link = shown(row, repository.PREFIX)
    return {
        **by_field(row, other.columns),
        "link_id": link["id"],
        "link_type": link["link_type"],
        "link_source": link["link_source"],
        "confidence_score": link["confidence_score"],
        "suspect": link["suspect"],
        "linked_at": link["created_at"],
        "link": link,
        **ends(row, repository.PREFIX),
    }


def _not_found() -> NotFound:
    return NotFound("There is no link with this id.", code="link_not_found")


async def get(connection: Connection, link_id: UUID) -> Row:
    """Return a link as it was read; raises NotFound."""
    row = await repository.find(connection, link_id)
    if row is None:
        raise _not_found()
    return row


async def lock(connection: Connection, link_id: UUID) -> Row:
    """Return a link that is about to change; others wait. Raises NotFound."""
    await repository.lock(connection, link_id)
    return await get(connection, link_id)


async def create(connection: Connection, fields: Row, actor: Actor) -> Row:
    """Make a link by hand, in one writing statement; return it as it is answered.

    `fields`: for each end KIND_id or KIND_external_id (the other may be None), link_type, notes. Raises NotFound,
    Invalid when id and external_id mean two items, and Conflict `link_exists`.
    """
    found = await repository.ends(connection, fields)
    for kind in _KINDS:
        _check_end(kind, fields, found)
    now = datetime.now(UTC)
    link = by_field(
        {
            **fields,
            **found,
            "id": uuid4(),
            "link_source": LinkSource.MANUAL.value,
            "confidence_score": 1.0,
            "created_at": now,
            "created_by": author(actor),
            "confirmed_at": None,
            "confirmed_by": None,
            "updated_at": now,
        },
        repository.COLUMNS,
    )
    versions = by_field(found, ("requirement_version", "test_case_version"))
    await repository.insert(connection, {**link, **versions}, _created({**found, **link}, None, actor))
    return {**link, "suspect": False, "suspect_reason": None}


def _check_end(kind: ItemKind, wanted: Row, found: Row) -> None:
    if found[f"{kind.name}_id"] is None:
        raise kind.not_found(wanted[f"{kind.name}_external_id"] if wanted[f"{kind.name}_id"] is None else None)
    name = f"{kind.name}_external_id"
    if wanted[name] not in {None, found[name]}:
        raise Invalid.field(
            f"/{name}",
            f"The {kind.label} with this {kind.name}_id has the external_id {found[name]!r}, not {wanted[name]!r};"
            " send one of the two.",
            "contradiction",
        )


async def create_accepted(connection: Connection, accepted: Sequence[Row]) -> list[UUID | Problem]:
    """Make the links of accepted suggestions, each once; return for each, in order, the link's id or why there is none.

    `accepted`: suggestion_id, requirement_id, test_case_id, link_type, notes, confidence_score, actor (id, email), and
    review_id and link_id (or None). The link is that of an earlier call when there was one, and if it has been deleted
    since: it is not made again. Nor is that of a review that has been undone, by a call that comes late, nor one that
    is known to have been made (`link_id`).
    """
    now = datetime.now(UTC)
    by_suggestion = {one["suggestion_id"]: one for one in accepted}
    ids = {suggestion_id: uuid4() for suggestion_id in by_suggestion}
    earlier = await repository.remember_acceptances(connection, ids, now)
    new = [one for suggestion_id, one in by_suggestion.items() if suggestion_id not in earlier]
    kept = {
        kind.name: await repository.keep_ends(connection, kind, [one[f"{kind.name}_id"] for one in new])
        for kind in _KINDS
    }
    links: dict[UUID, Row] = {}
    refused: dict[UUID, Problem] = {}
    undone = await _undone(connection, new)
    for one in new:
        suggestion_id = one["suggestion_id"]
        if suggestion_id in undone:
            refused[suggestion_id] = _UNDONE
            continue
        gone = [kind for kind in _KINDS if one[f"{kind.name}_id"] not in kept[kind.name]]
        if gone:
            refused[suggestion_id] = gone[0].not_found()
        else:
            link = _accepted(one, ids[suggestion_id], now)
            for kind in _KINDS:
                link |= kept[kind.name][one[f"{kind.name}_id"]]
            links[suggestion_id] = link
    made = await repository.insert_all(connection, list(links.values()))
    refused |= {suggestion_id: repository.exists() for suggestion_id, link in links.items() if link["id"] not in made}
    if refused:
        await repository.forget_acceptances(connection, list(refused))
    events = [
        _created(link, suggestion_id, Actor(**by_suggestion[suggestion_id]["actor"]))
        for suggestion_id, link in links.items()
        if suggestion_id not in refused
    ]
    await outbox.record(connection, events)
    outcomes: dict[UUID, UUID | Problem] = {**ids, **earlier, **refused}
    return [outcomes[one["suggestion_id"]] for one in accepted]


async def _undone(connection: Connection, accepted: Sequence[Row]) -> set[UUID]:
    """Return those of the suggestions whose acceptance was undone: nothing is remembered of a link that was made."""
    reviews = {one["suggestion_id"]: one["review_id"] for one in accepted if one["review_id"] is not None}
    made = {one["suggestion_id"] for one in accepted if one["link_id"] is not None}
    return made | (await repository.undone_acceptances(connection, reviews) if reviews else set())


def _accepted(one: Row, link_id: UUID, now: datetime) -> Row:
    reviewer = author(Actor(**one["actor"]))
    asked_for = ("requirement_id", "test_case_id", "link_type", "notes", "confidence_score")
    return {
        **by_field(one, asked_for),
        "id": link_id,
        "link_source": LinkSource.AI_CONFIRMED.value,
        "created_at": now,
        "created_by": reviewer,
        "confirmed_at": now,
        "confirmed_by": reviewer,
        "updated_at": now,
    }


def _created(link: Row, suggestion_id: UUID | None, actor: Actor) -> NewEvent:
    return NewEvent(LinkCreated.model_validate({"link": link, "suggestion_id": suggestion_id}), str(link["id"]), actor)


async def update(connection: Connection, row: Row, fields: Mapping[str, Any], actor: Actor) -> Row:
    """Bring a locked link to `fields` (link_type, notes); return it as `get` does. No change is no update."""
    changed = {name: value for name, value in fields.items() if row[name] != value}
    if not changed:
        return row
    now = {"updated_at": datetime.now(UTC)}
    event = _updated({**row, **now}, changed, actor)
    await repository.update(connection, row["id"], {**changed, **now}, event)
    return {**row, **changed, **now}


async def confirm(connection: Connection, row: Row, actor: Actor) -> Row:
    """Confirm a locked link: it holds for both items as they were read with it. Give it as `get` does."""
    now = datetime.now(UTC)
    confirmation = {"confirmed_at": now, "confirmed_by": author(actor)}
    versions = {
        "requirement_version": row["requirement_version_now"],
        "test_case_version": row["test_case_version_now"],
    }
    event = _updated({**row, "updated_at": now}, confirmation, actor)
    stored = {**confirmation, **versions, "updated_at": now}
    await repository.update(connection, row["id"], stored, event)
    return {**row, **stored}


async def delete(connection: Connection, row: Row, actor: Actor) -> None:
    """Delete a locked link."""
    await repository.delete(connection, row["id"], deleted(row, actor))


async def deletions_with(connection: Connection, column: str, item_id: UUID, actor: Actor) -> list[NewEvent]:
    """Lock the links of an item that is about to be deleted; return the events of their end."""
    rows = await repository.lock_links_of(connection, column, item_id)
    return [deleted(row, actor) for row in rows]


def _updated(row: Row, changed: Mapping[str, Any], actor: Actor) -> NewEvent:
    changes = {name: {"before": row[name], "after": value} for name, value in changed.items()}
    data = LinkUpdated.model_validate({"link": {**row, **changed}, "changes": changes})
    return NewEvent(data, str(row["id"]), actor)


def deleted(row: Row, actor: Actor) -> NewEvent:
    """Return the event of a link that was deleted, read with the titles of its ends."""
    return NewEvent(LinkDeleted.model_validate({"link": row}), str(row["id"]), actor)

"""What can be done to links: each change with its event, in one transaction."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from catalog_service.authorship import author
from catalog_service.items import repository as items
from catalog_service.items import suspicion
from catalog_service.items.ends import check_found
from catalog_service.items.kinds import BRIEF, KINDS, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.joining.service import Joining
from catalog_service.links import repository
from catalog_service.links.fields import COLUMNS, ORIGIN, StoredLink
from catalog_service.links.repository import LinkRow
from catalog_service.links.schemas import AcceptedSuggestion
from catalog_service.values import LinkSource, LinkType
from chassis.core.problems import Conflict, Problem
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.listing import Fetched, PageRequest, Row
from contracts.catalog import LinkCreated, LinkDeleted, LinkUpdated

_UNDONE = Conflict("This acceptance has been undone.", code="acceptance_undone")


def shown(row: Mapping[str, Any], prefix: str = "") -> Row:
    """Return a link, read with its titles and versions, as it is answered."""
    why = suspicion.reason(row)
    return {
        **{name: row[prefix + name] for name in COLUMNS},
        **{name: row[name] for name in ORIGIN},
        "suspect": why is not None,
        "suspect_reason": why,
    }


def ends(row: Mapping[str, Any], prefix: str = "") -> Row:
    """Return both items of a link in short, as `requirement` and `test_case`."""
    return {
        kind.name: {
            name: row[f"{prefix}{kind.name}_id"] if name == "id" else row[f"{kind.name}_{name}"] for name in BRIEF
        }
        for kind in KINDS
    }


LINKS: Joining[LinkRow] = Joining("link", repository.LINKS, suspicion.SIDES, shown, (LinkUpdated, LinkDeleted))


async def find_linked(
    database: Database, kind: ItemKind, item_id: UUID, other: ItemKind, wanted: PageRequest
) -> Fetched:
    """Return a page of the items that are linked to an item, as they are answered; raises NotFound."""
    async with database.connection() as connection:
        found = await repository.find_linked(connection, kind, item_id, other, wanted)
        if found.total == 0 and not await items.find_all(connection, kind, [item_id]):
            raise kind.not_found()
    return found._replace(rows=[_linked(row, other) for row in found.rows])


async def create(connection: Connection, fields: Row, actor: Actor) -> Row:
    """Make a link by hand, in one writing statement; return it as it is answered.

    `fields`: for each end KIND_id or KIND_external_id (the other may be None), link_type, notes. Raises NotFound,
    Invalid when id and external_id mean two items, and Conflict `link_exists`.
    """
    found = await repository.ends(connection, fields)
    for kind in KINDS:
        check_found(kind, kind.name, fields, found)
    now = datetime.now(UTC)
    link: StoredLink = {
        "id": uuid4(),
        "requirement_id": found["requirement_id"],
        "test_case_id": found["test_case_id"],
        "link_type": fields["link_type"],
        "link_source": LinkSource.MANUAL.value,
        "confidence_score": 1.0,
        "notes": fields["notes"],
        "created_at": now,
        "created_by": author(actor),
        "confirmed_at": None,
        "confirmed_by": None,
        "updated_at": now,
    }
    versions = {name: found[name] for name in ("requirement_version", "test_case_version")}
    await repository.insert(connection, {**link, **versions}, _created({**found, **link}, None, actor))
    return {**link, **versions, "suggestion_id": None, "suspect": False, "suspect_reason": None}


async def make_again(connection: Connection, link: Row, actor: Actor) -> None:
    """Make a link again that was deleted, as it was; raise NotFound, and Conflict `link_exists`.

    `link` is it as it was read, as JSON.
    """
    ends: Row = {}
    for kind in KINDS:
        found = await repository.lock_ends(connection, kind, [UUID(link[f"{kind.name}_id"])])
        if not found:
            raise kind.not_found()
        for one in found.values():
            ends |= one
    again = {**ends, **link, "updated_at": datetime.now(UTC)}
    if not await repository.insert_all(connection, [again]):
        raise repository.exists()
    suggestion_id = link["suggestion_id"]
    await outbox.record(connection, [_created(again, suggestion_id and UUID(suggestion_id), actor)])


async def accept(database: Database, accepted: Sequence[AcceptedSuggestion]) -> list[UUID | Problem]:
    """Do `create_accepted` in a transaction of its own."""
    async with database.transaction() as connection:
        return await create_accepted(connection, accepted)


async def create_accepted(connection: Connection, accepted: Sequence[AcceptedSuggestion]) -> list[UUID | Problem]:
    """Make the links of accepted suggestions, each once; return for each, in order, the link's id or why there is none.

    The link is that of an earlier call when there was one, and if it has been deleted since: it is not made again. Nor
    is that of a review that has been undone, by a call that comes late, nor one that is known to have been made
    (`link_id`).
    """
    now = datetime.now(UTC)
    by_suggestion = {one.suggestion_id: one for one in accepted}
    ids = {suggestion_id: uuid4() for suggestion_id in by_suggestion}
    earlier = await repository.insert_acceptances(connection, ids, now)
    new = [one for suggestion_id, one in by_suggestion.items() if suggestion_id not in earlier]
    requirements = await repository.lock_ends(connection, REQUIREMENT, [one.requirement_id for one in new])
    test_cases = await repository.lock_ends(connection, TEST_CASE, [one.test_case_id for one in new])
    links: dict[UUID, Row] = {}
    refused: dict[UUID, Problem] = {}
    undone = await _undone(connection, new)
    for one in new:
        if one.suggestion_id in undone:
            refused[one.suggestion_id] = _UNDONE
        elif one.requirement_id not in requirements:
            refused[one.suggestion_id] = REQUIREMENT.not_found()
        elif one.test_case_id not in test_cases:
            refused[one.suggestion_id] = TEST_CASE.not_found()
        else:
            link = _accepted(one, ids[one.suggestion_id], now)
            links[one.suggestion_id] = {**link, **requirements[one.requirement_id], **test_cases[one.test_case_id]}
    made = await repository.insert_all(connection, list(links.values()))
    refused |= {suggestion_id: repository.exists() for suggestion_id, link in links.items() if link["id"] not in made}
    if refused:
        await repository.delete_acceptances(connection, list(refused))
    events = [
        _created(link, suggestion_id, by_suggestion[suggestion_id].actor.as_actor())
        for suggestion_id, link in links.items()
        if suggestion_id not in refused
    ]
    await outbox.record(connection, events)
    outcomes: dict[UUID, UUID | Problem] = {**ids, **earlier, **refused}
    return [outcomes[one.suggestion_id] for one in accepted]


async def create_imported(
    connection: Connection, pairs: Sequence[tuple[UUID, UUID]], link_type: LinkType, actor: Actor
) -> int:
    """Link requirements (first of a pair) with test cases where they are not linked yet; return how many links are new.

    Pairs of which an end does not exist any more are left out.
    """
    requirements = await repository.lock_ends(connection, REQUIREMENT, [pair[0] for pair in pairs])
    test_cases = await repository.lock_ends(connection, TEST_CASE, [pair[1] for pair in pairs])
    now = datetime.now(UTC)
    links = [
        {
            "id": uuid4(),
            "requirement_id": requirement_id,
            "test_case_id": test_case_id,
            "link_type": link_type.value,
            "link_source": LinkSource.IMPORTED.value,
            "confidence_score": None,
            "notes": None,
            "created_at": now,
            "created_by": author(actor),
            "confirmed_at": None,
            "confirmed_by": None,
            "updated_at": now,
            **requirements[requirement_id],
            **test_cases[test_case_id],
        }
        for requirement_id, test_case_id in pairs
        if requirement_id in requirements and test_case_id in test_cases
    ]
    made = await repository.insert_all(connection, links)
    await outbox.record(connection, [_created(link, None, actor) for link in links if link["id"] in made])
    return len(made)


async def _undone(connection: Connection, accepted: Sequence[AcceptedSuggestion]) -> set[UUID]:
    """Return those of the suggestions whose acceptance was undone: nothing is remembered of a link that was made."""
    reviews = {one.suggestion_id: one.review_id for one in accepted if one.review_id is not None}
    made = {one.suggestion_id for one in accepted if one.link_id is not None}
    return made | (await repository.undone_acceptances(connection, reviews) if reviews else set())


def _accepted(one: AcceptedSuggestion, link_id: UUID, now: datetime) -> StoredLink:
    reviewer = author(one.actor.as_actor())
    return {
        "id": link_id,
        "requirement_id": one.requirement_id,
        "test_case_id": one.test_case_id,
        "link_type": one.link_type,
        "link_source": LinkSource.AI_CONFIRMED.value,
        "confidence_score": one.confidence_score,
        "notes": one.notes,
        "created_at": now,
        "created_by": reviewer,
        "confirmed_at": now,
        "confirmed_by": reviewer,
        "updated_at": now,
    }


def _created(link: Mapping[str, Any], suggestion_id: UUID | None, actor: Actor) -> NewEvent:
    return NewEvent(LinkCreated.model_validate({"link": link, "suggestion_id": suggestion_id}), str(link["id"]), actor)


async def existing(database: Database, conflict: Conflict) -> Conflict:
    """Return the Conflict `link_exists` with the `link_id` of the link that there is, if it is still there."""
    async with database.connection() as connection:
        link_id = await repository.id_of_pair(connection, **conflict.members)
    return conflict if link_id is None else repository.exists(**conflict.members, link_id=link_id)


async def deletions_with_items(
    connection: Connection, kind: ItemKind, item_ids: list[UUID], actor: Actor
) -> list[NewEvent]:
    """Lock the links of items that are about to be deleted; return the events of their end."""
    rows = await repository.lock_links_of(connection, f"{kind.name}_id", item_ids)
    return [LINKS.deleted(row, actor) for row in rows]


def _linked(row: Row, other: ItemKind) -> Row:
    """Return an item with its link as it is answered, and both items in short."""
    link = shown(row, repository.PREFIX)
    return {
        **{name: row[name] for name in other.columns},
        "link_id": link["id"],
        "link_type": link["link_type"],
        "link_source": link["link_source"],
        "confidence_score": link["confidence_score"],
        "suspect": link["suspect"],
        "linked_at": link["created_at"],
        "link": link,
        **ends(row, repository.PREFIX),
    }

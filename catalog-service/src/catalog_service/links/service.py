"""What can be done to links: each change with its event, in the caller's transaction."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from catalog_service.authorship import author
from catalog_service.items.kind import ItemKind
from catalog_service.links import repository, suspicion
from catalog_service.links.schemas import LinkSource
from catalog_service.listing import Row, by_field
from catalog_service.requirements.kind import REQUIREMENT
from catalog_service.test_cases.kind import TEST_CASE
from chassis.database import Connection
from chassis.events import Actor, NewEvent
from chassis.problems import NotFound
from contracts.catalog import LinkCreated, LinkDeleted, LinkUpdated


def shown(row: Row, prefix: str = "") -> Row:
    """Give a link, read with its titles and versions, as it is answered."""
    why = suspicion.reason(row)
    return {**by_field(row, repository.COLUMNS, prefix), "suspect": why is not None, "suspect_reason": why}


def shown_linked(row: Row, other: ItemKind) -> Row:
    """Give a row of `repository.find_linked` as it is answered: the item, and its link."""
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
    }


def _not_found() -> NotFound:
    return NotFound("There is no link with this id.", code="link_not_found")


async def get(connection: Connection, link_id: UUID) -> Row:
    """Give a link as it was read; raises NotFound."""
    row = await repository.find(connection, link_id)
    if row is None:
        raise _not_found()
    return row


async def lock(connection: Connection, link_id: UUID) -> Row:
    """Give a link that is about to change; others wait. Raises NotFound."""
    await repository.lock(connection, link_id)
    return await get(connection, link_id)


async def create(connection: Connection, fields: Row, actor: Actor) -> Row:
    """Make a link by hand, in one writing statement; give it as it is answered.

    `fields`: requirement_id, test_case_id, link_type, notes. Raises NotFound, and Conflict `link_exists`.
    """
    return await _insert(
        connection,
        {
            **fields,
            "id": uuid4(),
            "link_source": LinkSource.MANUAL.value,
            "confidence_score": 1.0,
            "created_at": datetime.now(UTC),
            "created_by": author(actor),
            "confirmed_at": None,
            "confirmed_by": None,
        },
        actor,
    )


async def create_accepted(connection: Connection, suggestion_id: UUID, fields: Row, actor: Actor) -> tuple[Row, bool]:
    """Make the link of an accepted suggestion, once; give it as it is answered, and whether it is new.

    `fields`: requirement_id, test_case_id, link_type, notes, confidence_score. A link that was made for this
    suggestion earlier and deleted since is not made again: then its id alone is given. Raises NotFound, and
    Conflict `link_exists`.
    """
    now = datetime.now(UTC)
    link_id = uuid4()
    earlier = await repository.remember_acceptance(connection, suggestion_id, link_id, now)
    if earlier is not None:
        row = await repository.find(connection, earlier)
        return ({"id": earlier} if row is None else shown(row)), False
    link = await _insert(
        connection,
        {
            **fields,
            "id": link_id,
            "link_source": LinkSource.AI_CONFIRMED.value,
            "created_at": now,
            "created_by": author(actor),
            "confirmed_at": now,
            "confirmed_by": author(actor),
        },
        actor,
        suggestion_id,
    )
    return link, True


async def _insert(connection: Connection, fields: Row, actor: Actor, suggestion_id: UUID | None = None) -> Row:
    ends = await repository.ends(connection, fields["requirement_id"], fields["test_case_id"])
    for kind in (REQUIREMENT, TEST_CASE):
        if ends[f"{kind.name}_version"] is None:
            raise kind.not_found()
    link = by_field(fields, repository.COLUMNS)
    event = NewEvent(
        LinkCreated.model_validate({"link": {**link, **ends}, "suggestion_id": suggestion_id}),
        str(link["id"]),
        actor,
    )
    versions = by_field(ends, ("requirement_version", "test_case_version"))
    await repository.insert(connection, {**link, **versions}, event)
    return {**link, "suspect": False, "suspect_reason": None}


async def update(connection: Connection, row: Row, fields: Mapping[str, Any], actor: Actor) -> None:
    """Bring a locked link to `fields` (link_type, notes); what changes nothing is no update."""
    changed = {name: value for name, value in fields.items() if row[name] != value}
    if changed:
        await repository.update(connection, row["id"], changed, _updated(row, changed, actor))


async def confirm(connection: Connection, row: Row, actor: Actor) -> Row:
    """Confirm a locked link: it holds for both items as they were read with it. Give it as `get` does."""
    confirmation = {"confirmed_at": datetime.now(UTC), "confirmed_by": author(actor)}
    versions = {
        "requirement_version": row["requirement_version_now"],
        "test_case_version": row["test_case_version_now"],
    }
    event = _updated(row, confirmation, actor)
    await repository.update(connection, row["id"], {**confirmation, **versions}, event)
    return {**row, **confirmation, **versions}


async def delete(connection: Connection, row: Row, actor: Actor) -> None:
    """Delete a locked link."""
    await repository.delete(connection, row["id"], _deleted(row, actor))


async def deletions_with(connection: Connection, column: str, item_id: UUID, actor: Actor) -> list[NewEvent]:
    """Lock the links of an item that is about to be deleted; give the events of their end."""
    rows = await repository.lock_links_of(connection, column, item_id)
    return [_deleted(row, actor) for row in rows]


def _updated(row: Row, changed: Mapping[str, Any], actor: Actor) -> NewEvent:
    changes = {name: {"before": row[name], "after": value} for name, value in changed.items()}
    data = LinkUpdated.model_validate({"link": {**row, **changed}, "changes": changes})
    return NewEvent(data, str(row["id"]), actor)


def _deleted(row: Row, actor: Actor) -> NewEvent:
    return NewEvent(LinkDeleted.model_validate({"link": row}), str(row["id"]), actor)

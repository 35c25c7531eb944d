"""Taking back what accepted proposals did, as long as nobody has touched that since."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from catalog_service.fields import repository as project_fields
from catalog_service.items import repository as items
from catalog_service.items.kinds import KINDS, REQUIREMENT, TEST_CASE
from catalog_service.items.service import delete_all, differ, updated
from catalog_service.links import repository as link_rows
from catalog_service.links import service as links
from catalog_service.proposals import repository
from catalog_service.proposals.repository import Applied
from catalog_service.proposals.schemas import UndoneProposal
from catalog_service.relations import service as relations
from chassis.core.problems import Conflict, Problem
from chassis.db.database import Connection, Database
from chassis.messaging.events import Actor
from chassis.web.listing import Row


async def take_back(database: Database, undone: UndoneProposal) -> Row | Problem:
    """Take back what a proposal did, once; return what of its target is another now, or why it stays.

    Asked again, the answer is the same.
    """
    try:
        async with database.transaction() as connection:
            applied = await repository.lock(connection, undone.proposal_id)
            if applied is None or applied.undo is None:
                raise Conflict(
                    "It was accepted by a version that did not keep what taking it back needs: change or delete what"
                    " accepting it did where that stands; its history says what it was before.",
                    code="not_undoable",
                )
            if applied.undone is not None:
                return applied.undone
            target = await _KINDS[undone.kind](connection, applied, undone.kind, undone.actor.as_actor())
            await repository.take_back(connection, undone.proposal_id, target)
            # However late the acceptance comes once more.
            await link_rows.undo_acceptances(connection, {}, {undone.proposal_id: undone.review_id})
            return target
    except Problem as problem:
        return problem


async def _delete_item(connection: Connection, applied: Applied, name: str, actor: Actor) -> Row:
    kind = next(one for one in KINDS if one.name == name)
    current = await items.find(connection, kind, _made(applied), "FOR UPDATE")
    if current is None:
        return {}
    if current["updated_at"] != current["created_at"] or await repository.is_used(connection, current["id"]):
        raise _touched(f"The {kind.label} that accepting it made has been changed, linked or tested since")
    await delete_all(connection, kind, [current], actor, relations.deletions_with_items)
    return {}


async def _change_back(connection: Connection, applied: Applied, name: str, actor: Actor) -> Row:
    undo = _undo(applied)
    kind = REQUIREMENT if undo["kind"] == REQUIREMENT.name else TEST_CASE
    current = await items.find(connection, kind, _made(applied), "FOR NO KEY UPDATE")
    if current is None or any(differ(current[field], value) for field, value in undo["after"].items()):
        raise _touched(f"The {kind.label} has been changed in the same fields since, or is gone")
    own = await project_fields.of(connection)
    update = updated(kind, current, undo["before"], actor, own)
    assert update is not None, "what it was before is something else"
    if update.meaning:
        await items.insert_revision(connection, update.row, update.meaning)
    await items.update(connection, kind, update.row, update.stored, update.event)
    # Where others have changed it meanwhile, the proposal stays one for the version of then.
    return {"version": update.row["version"]} if current["version"] == undo["version"] else {}


async def _link_again(connection: Connection, applied: Applied, name: str, actor: Actor) -> Row:
    await links.make_again(connection, _undo(applied)["link"], actor)
    return {}


async def _doubt_again(connection: Connection, applied: Applied, name: str, actor: Actor) -> Row:
    undo = _undo(applied)
    link_id = _made(applied)
    await links.LINKS.table.lock(connection, link_id)
    row = await links.LINKS.table.find(connection, link_id)
    if row is None or row["confirmed_at"] != _moment(undo["after"]["confirmed_at"]):
        raise _touched("The link has been confirmed or made anew since, or is gone")
    before = {**undo["before"], "confirmed_at": _moment(undo["before"]["confirmed_at"])}
    await links.LINKS.bring_back(connection, row, before, ("confirmed_at", "confirmed_by"), actor)
    return {}


async def _part(connection: Connection, applied: Applied, name: str, actor: Actor) -> Row:
    relation_id = _made(applied)
    await relations.RELATIONS.table.lock(connection, relation_id)
    row = await relations.RELATIONS.table.find(connection, relation_id)
    if row is None:
        return {}
    if row["updated_at"] != row["created_at"]:
        raise _touched("The relation that accepting it made has been changed or confirmed since")
    await relations.RELATIONS.table.delete(connection, relation_id, relations.RELATIONS.deleted(row, actor))
    return {}


_KINDS: Mapping[str, Callable[[Connection, Applied, str, Actor], Awaitable[Row]]] = {
    "requirement": _delete_item,
    "test_case": _delete_item,
    "change": _change_back,
    "unlink": _link_again,
    "confirm_link": _doubt_again,
    "relation": _part,
}


def _touched(what: str) -> Conflict:
    return Conflict(f"{what}: the proposal stays accepted. Change it where it stands.", code="changed_since")


def _made(applied: Applied) -> UUID:
    assert applied.made_id is not None, "it was applied"
    return applied.made_id


def _undo(applied: Applied) -> dict[str, Any]:
    assert applied.undo is not None, "that was looked at"
    return applied.undo


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

"""What can be done to requirements and test cases: each change with its event, in the caller's transaction."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import orjson

from catalog_service.authorship import author
from catalog_service.items import repository
from catalog_service.items.kind import ItemKind
from catalog_service.items.merge_patch import merged
from catalog_service.links import service as links
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, Payload
from chassis.web.listing import Row


def new(kind: ItemKind, fields: Row, actor: Actor) -> tuple[Row, NewEvent]:
    """Return a new item of validated fields, as it is answered, and its event; both are still to be stored."""
    now = datetime.now(UTC)
    row = {**fields, "id": uuid4(), "version": 1, "created_at": now, "updated_at": now}
    if row["created_by"] is None:
        row["created_by"] = author(actor)
    row = {column: row[column] for column in kind.columns}
    return row, _event(kind.created, kind, row, actor)


async def lock(connection: Connection, kind: ItemKind, item_id: UUID) -> Row:
    """Return an item that is about to change, as it is answered; others wait. Raises NotFound."""
    row = await repository.find(connection, kind, item_id, "FOR NO KEY UPDATE")
    if row is None:
        raise kind.not_found()
    return row


async def lock_to_delete(connection: Connection, kind: ItemKind, item_id: UUID) -> Row:
    """Return an item that is about to go; new links to it wait, and then find it gone. Raises NotFound."""
    row = await repository.find(connection, kind, item_id, "FOR UPDATE")
    if row is None:
        raise kind.not_found()
    return row


def replacement(current: Row, fields: Row) -> Row:
    """Return the fields of an item after PUT: as sent, but who created it stays unless it is given."""
    if fields["created_by"] is None:
        return {**fields, "created_by": current["created_by"]}
    return fields


def patched(kind: ItemKind, current: Row, patch: Mapping[str, Any]) -> Row:
    """Return the fields of an item that a merge patch names, as they are after it."""
    fields = {}
    for name, value in patch.items():
        if value is None:
            fields[name] = kind.defaults.get(name)
        elif name in kind.json_columns:
            fields[name] = merged(current[name], value)
        else:
            fields[name] = value
    return fields


async def update(connection: Connection, kind: ItemKind, current: Row, fields: Row, actor: Actor) -> Row:
    """Bring a locked item to `fields`; return it as it is answered.

    A change of meaning raises its version; what changes nothing is no update. Raises Conflict
    `external_id_taken`.
    """
    changed = [name for name in kind.columns if name in fields and _differ(current[name], fields[name])]
    if not changed:
        return current
    row = {**current, **{name: fields[name] for name in changed}, "updated_at": datetime.now(UTC)}
    meaning = [name for name in kind.meaning if name in changed]
    if meaning:
        row["version"] = current["version"] + 1
        await repository.remember_revision(connection, row, meaning)
    changes = {name: {"before": current[name], "after": row[name]} for name in changed}
    event = _event(kind.updated, kind, row, actor, changes=changes)
    stored = [*changed, "updated_at", *(["version"] if meaning else [])]
    await repository.update(connection, kind, row, stored, event)
    return row


async def delete(connection: Connection, kind: ItemKind, row: Row, actor: Actor) -> None:
    """Delete a locked item and its links: its event comes first, theirs follow."""
    events = [_event(kind.deleted, kind, row, actor)]
    events += await links.deletions_with(connection, f"{kind.name}_id", row["id"], actor)
    await repository.delete(connection, kind, row["id"])
    await outbox.record(connection, events)


def _event(payload: type[Payload], kind: ItemKind, row: Row, actor: Actor, **more: Any) -> NewEvent:
    return NewEvent(payload.model_validate({kind.name: row, **more}), str(row["id"]), actor)


def _differ(before: Any, after: Any) -> bool:
    """Check whether two values differ as JSON: there 1, 1.0 and true do, the order of members does not."""
    if isinstance(before, dict) and isinstance(after, dict):
        return orjson.dumps(before, option=orjson.OPT_SORT_KEYS) != orjson.dumps(after, option=orjson.OPT_SORT_KEYS)
    return bool(before != after)

"""What can be done to relations: each change with its event, in one transaction."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

from catalog_service.authorship import author
from catalog_service.items import repository as items
from catalog_service.items.ends import check_found
from catalog_service.items.kinds import BRIEF, REQUIREMENT, ItemKind
from catalog_service.joining.service import Joining
from catalog_service.links import service as links
from catalog_service.relations import repository, suspicion
from catalog_service.relations.circles import find_way
from catalog_service.relations.fields import COLUMNS, VERSIONS, StoredRelation
from catalog_service.relations.repository import End, RelationRow
from catalog_service.values import ROLLING, RelationSource
from chassis.core.problems import Conflict, FieldError, Invalid
from chassis.db.database import Connection, Database
from chassis.messaging.events import Actor, NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row
from contracts.catalog import RelationCreated, RelationDeleted, RelationUpdated

MOST_PARENTS = 100
ENDS = ("child", "parent")


def shown(row: Mapping[str, Any]) -> Row:
    """Return a relation, read with its versions, as it is answered."""
    why = suspicion.reason(row)
    return {**{name: row[name] for name in (*COLUMNS, *VERSIONS)}, "suspect": why is not None, "suspect_reason": why}


def ends(row: Mapping[str, Any]) -> Row:
    """Return both requirements of a relation in short, as `child` and `parent`."""
    return {end: short(row, end) for end in ENDS}


def short(row: Mapping[str, Any], end: str) -> Row:
    """Return one requirement of a relation in short."""
    return {name: row[f"{end}_{name}"] for name in BRIEF}


RELATIONS: Joining[RelationRow] = Joining(
    "relation", repository.RELATIONS, suspicion.SIDES, shown, (RelationUpdated, RelationDeleted)
)


async def find_related(database: Database, item_id: UUID, directions: Iterable[str], wanted: PageRequest) -> Fetched:
    """Return a page of the relations of a requirement, each with the one on its other side; raises NotFound.

    `directions` are those of `parents` and `children` that are wanted.
    """
    sides = {"parents": "n.child_id", "children": "n.parent_id"}
    is_side = " OR ".join(f"{sides[one]} = %(item_id)s" for one in directions)
    conditions = Conditions()
    conditions.add(f"({is_side or 'false'})", item_id=item_id)
    async with database.connection() as connection:
        found = await repository.RELATIONS.find_page(connection, conditions, wanted)
        if found.total == 0 and not await items.find_all(connection, REQUIREMENT, [item_id]):
            raise REQUIREMENT.not_found()
    return found._replace(rows=[_related(row, item_id) for row in found.rows])


def _related(row: Row, item_id: UUID) -> Row:
    other = "parent" if row["child_id"] == item_id else "child"
    return {**shown(row), "direction": other, "requirement": short(row, other)}


async def create(
    connection: Connection, fields: Row, actor: Actor, source: RelationSource = RelationSource.MANUAL
) -> Row:
    """Make a relation, by hand unless `source` says otherwise; return it as it is answered.

    `fields`: for each of child and parent END_id or END_external_id (the other may be None), relation_type, role,
    notes. Raises NotFound, Conflict `relation_exists` and `relation_cycle`, and Invalid `same_item`,
    `too_many_parents`, and when id and external_id mean two requirements.
    """
    async with connection.transaction():
        child, parent = await _lock_ends(connection, fields)
        await repository.lock_project(connection)
        await check_new(connection, child, parent, fields["relation_type"])
        now = datetime.now(UTC)
        relation: StoredRelation = {
            "id": uuid4(),
            "child_id": child["id"],
            "parent_id": parent["id"],
            "relation_type": fields["relation_type"],
            "role": fields["role"],
            "notes": fields["notes"],
            "source": source.value,
            "created_at": now,
            "created_by": author(actor),
            "confirmed_at": None,
            "confirmed_by": None,
            "updated_at": now,
        }
        versions = {"child_version": child["version"], "parent_version": parent["version"]}
        await repository.insert(connection, {**relation, **versions}, created(relation, child, parent, actor))
    return {**relation, **versions, "suspect": False, "suspect_reason": None}


async def _lock_ends(connection: Connection, fields: Row) -> tuple[End, End]:
    ids = [fields[f"{end}_id"] for end in ENDS if fields[f"{end}_id"] is not None]
    external_ids = [fields[f"{end}_external_id"] for end in ENDS if fields[f"{end}_id"] is None]
    rows = await repository.lock_ends(connection, ids, external_ids)
    found: dict[str, End] = {}
    for end in ENDS:
        by = "external_id" if fields[f"{end}_id"] is None else "id"
        one = next((row for row in rows if cast(Row, row)[by] == fields[f"{end}_{by}"]), None)
        known = {f"{end}_{name}": None if one is None else cast(Row, one)[name] for name in ("id", "external_id")}
        check_found(REQUIREMENT, end, fields, known)
        assert one is not None, "what is not found is refused"
        found[end] = one
    return found["child"], found["parent"]


async def check_new(connection: Connection, child: End, parent: End, relation_type: str) -> None:
    """Raise the problem of a relation that cannot be made between these two; the project must be locked."""
    if child["id"] == parent["id"]:
        message = "A requirement cannot be its own parent; send two different requirements."
        raise Invalid(message, code="same_item", errors=[FieldError("/parent_id", message, "same_item")])
    existing = await repository.id_of_pair(connection, child["id"], parent["id"])
    if existing is not None:
        raise repository.exists(existing)
    if await repository.count_parents(connection, child["id"]) >= MOST_PARENTS:
        message = f"A requirement has at most {MOST_PARENTS} parents, and this one has them; delete a relation first."
        raise Invalid(message, code="too_many_parents", errors=[FieldError("/child_id", message, "too_many_parents")])
    await check_circle(connection, child["id"], parent["id"], relation_type)


async def check_circle(connection: Connection, child_id: UUID, parent_id: UUID, relation_type: str) -> None:
    """Raise Conflict `relation_cycle` if a relation of this type would close a circle; the project must be locked."""
    if relation_type not in ROLLING or not await repository.stands_above(connection, parent_id, child_id):
        return
    way = find_way(await repository.parents_above(connection, [parent_id]), parent_id, child_id)
    assert way is not None, "it was found to lead there"
    path = await repository.names_of(connection, [child_id, *way])
    raise Conflict(
        f"This would close a circle: {' → '.join(path)}. Delete one of its relations first, or use a type that does"
        " not roll up.",
        code="relation_cycle",
        members={"path": path},
    )


def created(relation: StoredRelation, child: End, parent: End, actor: Actor) -> NewEvent:
    """Return the event of a relation that was made between these two."""
    names = {
        f"{end}_{name}": cast(Row, one)[name]
        for end, one in (("child", child), ("parent", parent))
        for name in ("title", "external_id")
    }
    state = {**relation, **names}
    return NewEvent(RelationCreated.model_validate({"relation": state}), str(relation["id"]), actor)


async def check_change(connection: Connection, row: RelationRow, changed: Row) -> None:
    """Raise Conflict `relation_cycle` if what changes of a relation would close a circle."""
    if changed.get("relation_type") in ROLLING and row["relation_type"] not in ROLLING:
        await repository.lock_project(connection)
        await check_circle(connection, row["child_id"], row["parent_id"], changed["relation_type"])


async def deletions_with_items(
    connection: Connection, kind: ItemKind, item_ids: list[UUID], actor: Actor
) -> list[NewEvent]:
    """Lock the links and relations of items that are about to be deleted; return the events of their end."""
    events = await links.deletions_with_items(connection, kind, item_ids, actor)
    if kind is REQUIREMENT:
        events += [RELATIONS.deleted(row, actor) for row in await repository.lock_relations_of(connection, item_ids)]
    return events

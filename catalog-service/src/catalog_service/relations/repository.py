"""The SQL of relations."""

from collections.abc import Iterable, Sequence
from typing import TypedDict, cast
from uuid import UUID

from catalog_service.items.kinds import BRIEF, REQUIREMENT
from catalog_service.joining.repository import JoiningTable
from catalog_service.relations import suspicion
from catalog_service.relations.fields import COLUMNS, StoredRelation
from catalog_service.values import ROLLING_TYPES
from chassis.core.problems import Conflict
from chassis.db.database import Connection, columns, map_constraint_violations, placeholders
from chassis.db.rows import fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.listing import Row


class NamedRelation(StoredRelation):
    """A relation with what tells its requirements."""

    child_title: str
    child_external_id: str | None
    parent_title: str
    parent_external_id: str | None


class RelationRow(NamedRelation):
    """A relation with both requirements in short, and with what `suspicion.reason` needs."""

    child_module: str | None
    child_version: int
    child_version_now: int
    child_changes: list[str] | None
    parent_module: str | None
    parent_version: int
    parent_version_now: int
    parent_changes: list[str] | None


class End(TypedDict):
    """A requirement that a relation is to join."""

    id: UUID
    external_id: str | None
    title: str
    version: int


JOINED_ENDS = "JOIN requirements c ON c.id = n.child_id JOIN requirements p ON p.id = n.parent_id"
"""Both requirements of a relation `n`, as `c` and `p`."""
_SOURCE = f"requirement_relations n {JOINED_ENDS}"
_ALIASES = {"child": "c", "parent": "p"}
NAMES = ", ".join(f"{alias}.{name} AS {end}_{name}" for end, alias in _ALIASES.items() for name in BRIEF[1:])
"""What `service.ends` needs, beside the ids that a relation has of both."""
SELECTED = f"{', '.join(f'n.{column}' for column in COLUMNS)}, {NAMES}, {suspicion.COLUMNS}"
"""The columns of a RelationRow, over `requirement_relations n` and JOINED_ENDS."""
RELATIONS: JoiningTable[RelationRow] = JoiningTable("requirement_relations", "n", SELECTED, JOINED_ENDS)

_REFUSALS = {
    "fk_requirement_relations_child_id_requirements": REQUIREMENT.not_found(),
    "fk_requirement_relations_parent_id_requirements": REQUIREMENT.not_found(),
}


def exists(relation_id: UUID | None = None) -> Conflict:
    """The problem of a second relation of a pair, with the id of the one that there is."""
    members = {} if relation_id is None else {"relation_id": relation_id}
    detail = "A relation from this child to this parent already exists."
    return Conflict(detail, code="relation_exists", members=members)


async def lock_relations_of(connection: Connection, item_ids: list[UUID]) -> list[NamedRelation]:
    """Return the relations of requirements, on whichever side, locked in one order."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"SELECT {', '.join(f'n.{name}' for name in COLUMNS)}, {NAMES} FROM {_SOURCE}"
        " WHERE n.child_id = ANY(%(ids)s) OR n.parent_id = ANY(%(ids)s) ORDER BY n.id FOR UPDATE OF n",
        {"ids": item_ids},
    )
    return cast("list[NamedRelation]", await cursor.fetchall())


async def lock_ends(connection: Connection, ids: Iterable[UUID], external_ids: Iterable[str] = ()) -> list[End]:
    """Return those of the requirements that exist; they stay for the transaction."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        "SELECT id, external_id, title, version FROM requirements WHERE id = ANY(%s) OR external_id = ANY(%s)"
        " ORDER BY id FOR KEY SHARE",
        ([*ids], [*external_ids]),
    )
    return cast("list[End]", await cursor.fetchall())


async def lock_project(connection: Connection) -> None:
    """Let nobody else make relations of the project until the transaction ends, so that no two close a circle.

    Requirements and relations are locked before, never after: who holds this waits for nobody.
    """
    await connection.execute(
        "SELECT pg_advisory_xact_lock("
        "hashtextextended('relations of ' || coalesce(current_setting('traceline.project', true), 'MAIN'), 0))"
    )


async def id_of_pair(connection: Connection, child_id: UUID, parent_id: UUID) -> UUID | None:
    """Return the id of the relation of a pair, or None."""
    query = "SELECT id FROM requirement_relations WHERE child_id = %s AND parent_id = %s"
    relation_id: UUID | None = await fetch_value(connection, query, (child_id, parent_id))
    return relation_id


async def count_parents(connection: Connection, child_id: UUID) -> int:
    """Return how many parents a requirement has."""
    query = "SELECT count(*) FROM requirement_relations WHERE child_id = %s"
    parents: int = await fetch_value(connection, query, (child_id,))
    return parents


_ABOVE = f"""
    WITH RECURSIVE above AS (
        SELECT unnest(%(starts)s::uuid[]) AS id
        UNION
        SELECT n.parent_id FROM above JOIN requirement_relations n ON n.child_id = above.id
        WHERE n.relation_type IN {ROLLING_TYPES}
    )
"""


async def stands_above(connection: Connection, start: UUID, end: UUID) -> bool:
    """Check whether relations that roll up lead from one requirement to another."""
    query = f"{_ABOVE} SELECT EXISTS (SELECT FROM above WHERE id = %(end)s)"
    found: bool = await fetch_value(connection, query, {"starts": [start], "end": end})
    return found


async def parents_above(connection: Connection, starts: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    """Return the parents, by relations that roll up, of requirements and of all above them."""
    cursor = await connection.execute(
        f"{_ABOVE} SELECT n.child_id, n.parent_id FROM above JOIN requirement_relations n ON n.child_id = above.id"
        f" WHERE n.relation_type IN {ROLLING_TYPES} ORDER BY n.created_at, n.id",
        {"starts": list(starts)},
    )
    parents: dict[UUID, list[UUID]] = {}
    for row in await cursor.fetchall():
        parents.setdefault(row["child_id"], []).append(row["parent_id"])
    return parents


async def names_of(connection: Connection, ids: Sequence[UUID]) -> list[str]:
    """Return the external ids of requirements, in order; the id of one that has none."""
    cursor = await connection.execute("SELECT id, external_id FROM requirements WHERE id = ANY(%s)", (list(ids),))
    names = {row["id"]: row["external_id"] for row in await cursor.fetchall()}
    return [names.get(one) or str(one) for one in ids]


async def insert(connection: Connection, row: Row, event: NewEvent) -> None:
    """Insert a relation with its event, in one statement.

    Raises Conflict when there is one of the pair, NotFound when a requirement is gone.
    """
    with map_constraint_violations({"uq_requirement_relations_ends": exists(), **_REFUSALS}):
        await connection.execute(
            f"WITH event AS ({outbox.RECORD}) INSERT INTO requirement_relations ({columns(row)})"
            f" VALUES ({placeholders(row)})",
            {**row, **outbox.fields(event)},
        )

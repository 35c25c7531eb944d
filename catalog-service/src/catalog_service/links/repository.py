"""The SQL of links."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from psycopg.types.json import Json

from catalog_service.items import suspicion
from catalog_service.items.kinds import BRIEF, KINDS, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.joining.repository import JoiningTable
from catalog_service.links.fields import COLUMNS, StoredLink
from chassis.core.problems import Conflict
from chassis.db.database import Connection, columns, map_constraint_violations, placeholders
from chassis.db.rows import fetch_column, fetch_value
from chassis.messaging import outbox
from chassis.messaging.events import NewEvent
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page


class NamedLink(StoredLink):
    """A link with what tells its ends."""

    requirement_title: str
    requirement_external_id: str | None
    test_case_title: str
    test_case_external_id: str | None


class LinkRow(NamedLink):
    """A link with both items in short, and with what `suspicion.reason` needs."""

    requirement_module: str | None
    requirement_version: int
    requirement_version_now: int
    requirement_changes: list[str] | None
    test_case_module: str | None
    test_case_version: int
    test_case_version_now: int
    test_case_changes: list[str] | None
    suggestion_id: UUID | None


class LockedLink(NamedLink):
    """A link with whether nothing was done to it since it was made."""

    untouched: bool


PREFIX = "link_"
"""What the names of a link's columns begin with, in the rows of `find_linked`."""

JOINED_ENDS = "JOIN requirements r ON r.id = l.requirement_id JOIN test_cases t ON t.id = l.test_case_id"
"""Both items of a link `l`, as `r` and `t`."""
_SOURCE = f"links l {JOINED_ENDS}"
_ALIASES = {REQUIREMENT.name: "r", TEST_CASE.name: "t"}
NAMES = (
    "r.title AS requirement_title, t.title AS test_case_title,"
    " r.external_id AS requirement_external_id, t.external_id AS test_case_external_id"
)
ENDS = ", ".join(
    f"{alias}.{name} AS {kind}_{name}" for kind, alias in _ALIASES.items() for name in BRIEF if name != "id"
)
"""What `service.ends` needs, beside the ids that a link has of both items."""
SUGGESTION = (
    "CASE WHEN l.link_source = 'ai_confirmed' THEN"
    " (SELECT a.suggestion_id FROM accepted_suggestions a WHERE a.link_id = l.id) END"
)
"""Which suggestion a link `l` was made from, where it was made from one."""
SELECTED = (
    f"{', '.join(f'l.{column}' for column in COLUMNS)}, {ENDS}, {suspicion.COLUMNS}, {SUGGESTION} AS suggestion_id"
)
"""The columns of a LinkRow, over `links l` and JOINED_ENDS."""
LINKS: JoiningTable[LinkRow] = JoiningTable("links", "l", SELECTED, JOINED_ENDS)


def exists(**members: Any) -> Conflict:
    """The problem of a second link of a pair; `members` name the pair and its link."""
    detail = "A link between this requirement and this test case already exists."
    return Conflict(detail, code="link_exists", members=members)


_REFUSALS = {
    "fk_links_requirement_id_requirements": REQUIREMENT.not_found(),
    "fk_links_test_case_id_test_cases": TEST_CASE.not_found(),
}


async def find_linked(
    connection: Connection, kind: ItemKind, item_id: UUID, other: ItemKind, wanted: PageRequest
) -> Fetched:
    """Return a page of the items of kind `other` that are linked to an item.

    A row has the item's columns, those of its link behind PREFIX, and what `service.ends` and `suspicion.reason` need.
    """
    item = _ALIASES[other.name]
    selected = ", ".join(
        (
            *(f"{item}.{column}" for column in other.columns),
            *(f"l.{column} AS {PREFIX}{column}" for column in COLUMNS),
            ENDS,
            suspicion.COLUMNS,
            f"{SUGGESTION} AS suggestion_id",
        )
    )
    conditions = Conditions()
    conditions.add(f"l.{kind.name}_id = %(item_id)s", item_id=item_id)
    return await fetch_page(connection, selected, "links l", conditions, wanted, joined=JOINED_ENDS)


async def ends(connection: Connection, wanted: Mapping[str, Any]) -> Row:
    """Return ids, external ids, titles and versions of a requirement and a test case; None for what does not exist.

    `wanted` names each by `KIND_id`, or where that is None by `KIND_external_id`.
    """
    joins = []
    for kind in KINDS:
        by = "external_id" if wanted[f"{kind.name}_id"] is None else "id"
        alias = _ALIASES[kind.name]
        joins.append(f"LEFT JOIN {kind.table} {alias} ON {alias}.{by} = %({kind.name}_{by})s")
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"SELECT r.id AS requirement_id, r.version AS requirement_version,"
        f" t.id AS test_case_id, t.version AS test_case_version, {NAMES}"
        f" FROM (VALUES (1)) one {' '.join(joins)}",
        wanted,
    )
    row = await cursor.fetchone()
    assert row is not None, "the one row is there whatever joins it"
    return row


async def id_of_pair(connection: Connection, requirement_id: UUID, test_case_id: UUID) -> UUID | None:
    """Return the id of the link of a pair, or None."""
    query = "SELECT id FROM links WHERE requirement_id = %s AND test_case_id = %s"
    link_id: UUID | None = await fetch_value(connection, query, (requirement_id, test_case_id))
    return link_id


async def insert(connection: Connection, row: Row, event: NewEvent) -> None:
    """Insert a link with its event, in one statement.

    Raises Conflict when the pair is linked, NotFound when an end is gone, be it at this very moment.
    """
    pair = {name: row[name] for name in ("requirement_id", "test_case_id")}
    with map_constraint_violations({"uq_requirement_test_case": exists(**pair), **_REFUSALS}):
        await connection.execute(
            f"WITH event AS ({outbox.RECORD}) INSERT INTO links ({columns(row)}) VALUES ({placeholders(row)})",
            {**row, **outbox.fields(event)},
        )


async def lock_links_of(connection: Connection, column: str, item_ids: list[UUID]) -> list[NamedLink]:
    """Return the links of items, locked in one order so that no two transactions deadlock."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"SELECT {', '.join(f'l.{name}' for name in COLUMNS)}, {NAMES} FROM {_SOURCE}"
        f" WHERE l.{column} = ANY(%s) ORDER BY l.id FOR UPDATE OF l",
        (item_ids,),
    )
    return cast("list[NamedLink]", await cursor.fetchall())


async def insert_acceptances(connection: Connection, links: Mapping[UUID, UUID], now: datetime) -> dict[UUID, UUID]:
    """Insert which link (value) each suggestion (key) becomes; return those that became another one before.

    Other acceptances of the same suggestions that are under way are waited for.
    """
    cursor = await connection.execute(
        "INSERT INTO accepted_suggestions (suggestion_id, link_id, created_at)"
        " SELECT suggestion_id, link_id, %s FROM unnest(%s::uuid[], %s::uuid[]) AS new (suggestion_id, link_id)"
        " ORDER BY suggestion_id ON CONFLICT (suggestion_id) DO NOTHING",
        (now, list(links), list(links.values())),
    )
    if cursor.rowcount == len(links):
        return {}
    cursor = await connection.execute(
        "SELECT suggestion_id, link_id FROM accepted_suggestions WHERE suggestion_id = ANY(%s) AND link_id <> ALL(%s)",
        (list(links), list(links.values())),
    )
    return {row["suggestion_id"]: row["link_id"] for row in await cursor.fetchall()}


async def delete_acceptances(connection: Connection, suggestion_ids: Sequence[UUID]) -> None:
    """Delete the acceptances of suggestions that became no link."""
    await connection.execute("DELETE FROM accepted_suggestions WHERE suggestion_id = ANY(%s)", (list(suggestion_ids),))


async def lock_ends(connection: Connection, kind: ItemKind, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """Return names and versions of those of the items that exist, as `ends` does; they stay for the transaction."""
    cursor = await connection.execute(
        f"SELECT id, external_id AS {kind.name}_external_id, title AS {kind.name}_title, version AS {kind.name}_version"
        f" FROM {kind.table} WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE",
        (list(ids),),
    )
    return {row.pop("id"): row for row in await cursor.fetchall()}


async def insert_all(connection: Connection, rows: Sequence[Row]) -> set[UUID]:
    """Insert links whose ends are locked; return the ids of those whose pair had no link yet."""
    names = ", ".join((*COLUMNS, "requirement_version", "test_case_version"))
    made = await fetch_column(
        connection,
        f"INSERT INTO links ({names}) SELECT {names} FROM json_populate_recordset(NULL::links, %s)"
        " ORDER BY requirement_id, test_case_id ON CONFLICT ON CONSTRAINT uq_requirement_test_case DO NOTHING"
        " RETURNING id",
        (Json(rows),),
    )
    return set(made)


async def undone_acceptances(connection: Connection, reviews: Mapping[UUID, UUID]) -> set[UUID]:
    """Return those of the suggestions (keys) whose acceptance by this review (values) has been undone."""
    undone = await fetch_column(
        connection,
        "SELECT suggestion_id FROM undone_acceptances JOIN unnest(%s::uuid[], %s::uuid[])"
        " AS asked (suggestion_id, review_id) USING (suggestion_id, review_id)",
        (list(reviews), list(reviews.values())),
    )
    return set(undone)


async def undo_acceptances(connection: Connection, links: Mapping[UUID, UUID], reviews: Mapping[UUID, UUID]) -> None:
    """Delete which link (value) each suggestion (key) became, and insert by which review (value) that was undone."""
    await connection.execute(
        "DELETE FROM accepted_suggestions a USING unnest(%s::uuid[], %s::uuid[]) AS undone (suggestion_id, link_id)"
        " WHERE a.suggestion_id = undone.suggestion_id AND a.link_id = undone.link_id",
        (list(links), list(links.values())),
    )
    await connection.execute(
        "INSERT INTO undone_acceptances (suggestion_id, review_id) SELECT * FROM unnest(%s::uuid[], %s::uuid[])"
        " ON CONFLICT DO NOTHING",
        (list(reviews), list(reviews.values())),
    )


async def lock_links_of_pairs(connection: Connection, pairs: Sequence[tuple[UUID, UUID]]) -> list[LockedLink]:
    """Return the links of these (requirement, test case), locked in one order so that no two transactions deadlock."""
    cursor = connection.cursor(binary=True)
    await cursor.execute(
        f"SELECT {', '.join(f'l.{name}' for name in COLUMNS)}, {NAMES}, l.updated_at = l.created_at AS untouched"
        f" FROM {_SOURCE} JOIN unnest(%s::uuid[], %s::uuid[]) AS pair (requirement_id, test_case_id)"
        " ON l.requirement_id = pair.requirement_id AND l.test_case_id = pair.test_case_id"
        " ORDER BY l.id FOR UPDATE OF l",
        ([pair[0] for pair in pairs], [pair[1] for pair in pairs]),
    )
    return cast("list[LockedLink]", await cursor.fetchall())

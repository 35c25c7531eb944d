"""The tree of requirements: roots, or the children of one, in pages, and all of it in the order of a document."""

from collections.abc import Iterator
from typing import NamedTuple
from uuid import UUID

from psycopg.rows import tuple_row

from catalog_service.items.kinds import BRIEF, REQUIREMENT
from catalog_service.items.repository import find_by_external_id
from catalog_service.items.suspicion import IS_SUSPECT
from catalog_service.reports.repository import MATRIX_ORDER
from catalog_service.rolled import reads
from catalog_service.rolled.queries import ALL_ROLLED_COVERAGE, ROLLS_UP, all_rolled_verdicts
from catalog_service.verdict_reads import of_requirements
from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

_COLUMNS = "r.id, r.external_id, r.title, r.module, r.type, r.priority, r.status, r.version"
_FIGURES = f"""
    (SELECT count(*) FROM requirement_relations k WHERE k.parent_id = r.id AND {ROLLS_UP}) AS children,
    coalesce((SELECT links FROM linked_requirements o WHERE o.requirement_id = r.id), 0) AS tests,
    (SELECT count(*) FROM links l JOIN test_cases t ON t.id = l.test_case_id
     WHERE l.requirement_id = r.id AND {IS_SUSPECT}) AS suspect_links,
    (SELECT count(*) FROM requirement_relations k JOIN requirements p ON p.id = k.parent_id
     WHERE k.child_id = r.id AND (r.version > k.child_version OR p.version > k.parent_version))
    + (SELECT count(*) FROM requirement_relations k JOIN requirements c ON c.id = k.child_id
       WHERE k.parent_id = r.id AND (c.version > k.child_version OR r.version > k.parent_version)) AS suspect_relations
"""
_IS_ROOT = f"NOT EXISTS (SELECT FROM requirement_relations k WHERE k.child_id = r.id AND {ROLLS_UP})"
_IS_CHILD = f"r.id IN (SELECT k.child_id FROM requirement_relations k WHERE k.parent_id = %(parent)s AND {ROLLS_UP})"


async def find_parent(connection: Connection, key: str) -> Row:
    """Return a requirement in short by its id or its external_id; raises NotFound."""
    row = None
    try:
        by_id = UUID(key)
    except ValueError:
        row = await find_by_external_id(connection, REQUIREMENT, key)
    else:
        cursor = await connection.execute(f"SELECT {', '.join(BRIEF)} FROM requirements WHERE id = %s", (by_id,))
        row = await cursor.fetchone()
    if row is None:
        raise REQUIREMENT.not_found(key)
    return {name: row[name] for name in BRIEF}


async def page(connection: Connection, parent: UUID | None, basis: Basis, wanted: PageRequest) -> Fetched:
    """Return a page of the children of a requirement, of None the roots, with what each comes to."""
    conditions = Conditions(_IS_ROOT) if parent is None else Conditions(_IS_CHILD, parent=parent)
    found = await fetch_page(connection, f"{_COLUMNS}, {_FIGURES}", "requirements r", conditions, wanted)
    ids = [row["id"] for row in found.rows]
    own = await of_requirements(connection, ids, basis)
    rolled = await reads.of_requirements(connection, ids, basis)
    for row in found.rows:
        row |= {"verdict": own[row["id"]]["verdict"], **rolled[row["id"]]}
    return found


class Line(NamedTuple):
    """A requirement at its place in the document."""

    depth: int
    again: bool
    """Whether it stood before under another parent, where its children are."""
    requirement: "Listed"
    children: int


class Listed(NamedTuple):
    """A requirement as documents list it."""

    id: UUID
    external_id: str | None
    title: str
    module: str | None
    status: str
    verdict: str
    rolled_verdict: str
    rolled_coverage: str
    tests: int


async def read_all(connection: Connection, basis: Basis) -> Iterator[Line]:
    """Return all requirements in the order of the tree; one with several parents comes below each."""
    cursor = connection.cursor(row_factory=tuple_row)
    await cursor.execute(
        f"""
        WITH RECURSIVE {all_rolled_verdicts(basis)}, {ALL_ROLLED_COVERAGE}
        SELECT r.id, r.external_id, r.title, r.module, r.status, v.verdict, u.verdict AS rolled_verdict,
               c.coverage AS rolled_coverage, coalesce(o.links, 0) AS tests
        FROM requirements r JOIN verdicts v ON v.requirement_id = r.id
        JOIN rolled_verdicts u ON u.requirement_id = r.id JOIN rolled_coverage c ON c.requirement_id = r.id
        LEFT JOIN linked_requirements o ON o.requirement_id = r.id ORDER BY {MATRIX_ORDER.sql}
        """,
        basis.parameters,
        prepare=False,
    )
    listed = [Listed(*row) for row in await cursor.fetchall()]
    relations = connection.cursor(row_factory=tuple_row)
    await relations.execute(f"SELECT k.child_id, k.parent_id FROM requirement_relations k WHERE {ROLLS_UP}")
    place = {one.id: number for number, one in enumerate(listed)}
    below: dict[int, list[int]] = {}
    children = set()
    for child, parent in await relations.fetchall():
        below.setdefault(place[parent], []).append(place[child])
        children.add(place[child])
    for numbers in below.values():
        numbers.sort()
    return _lines(listed, below, [one for one in range(len(listed)) if one not in children])


def _lines(listed: list[Listed], below: dict[int, list[int]], roots: list[int]) -> Iterator[Line]:
    seen: set[int] = set()
    waiting = [(0, one) for one in reversed(roots)]
    while waiting:
        depth, one = waiting.pop()
        children = below.get(one, [])
        yield Line(depth, one in seen, listed[one], len(children))
        if one not in seen:
            seen.add(one)
            waiting += [(depth + 1, child) for child in reversed(children)]

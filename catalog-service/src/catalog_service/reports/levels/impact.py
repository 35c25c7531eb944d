"""What a change of a requirement reaches, by the relations that are asked for."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from catalog_service.items.kinds import BRIEF, REQUIREMENT
from catalog_service.items.suspicion import IS_SUSPECT
from catalog_service.reports.levels.schemas import Direction
from catalog_service.verdicts import THESE, VERDICTS_OF_PAIRS, Basis, requirement_verdicts
from chassis.db.database import Connection
from chassis.web.listing import Row

MOST_ITEMS = 1000
_MOST_NAMED = 50
_ENDS = {Direction.DOWN: ("parent_id", "child_id"), Direction.UP: ("child_id", "parent_id")}


def _reached(direction: Direction) -> str:
    """Return expressions, recursive, that end with `reached`: id and the least depth of all that is reached.

    With `steps`: the relations on a shortest way. A circle of types that do not roll up ends at the depth.
    """
    near, far = _ENDS[direction]
    return f"""ways (id, depth) AS (
        SELECT %(id)s::uuid, 0
        UNION SELECT k.{far}, w.depth + 1 FROM ways w JOIN requirement_relations k ON k.{near} = w.id
        WHERE w.depth < %(depth)s AND k.relation_type = ANY(%(types)s)
    ), reached AS MATERIALIZED (SELECT id, min(depth) AS depth FROM ways GROUP BY id), steps AS (
        SELECT k.id, k.{far} AS item_id, n.depth FROM reached n JOIN requirement_relations k ON k.{far} = n.id
        JOIN reached b ON b.id = k.{near} AND b.depth = n.depth - 1 WHERE k.relation_type = ANY(%(types)s)
    )"""


async def find(
    connection: Connection, requirement_id: UUID, direction: Direction, depth: int, types: Sequence[str], basis: Basis
) -> Row:
    """Return what a change reaches; raises NotFound."""
    parameters = {"id": requirement_id, "depth": depth, "types": list(types), **basis.parameters}
    reached = f"WITH RECURSIVE {_reached(direction)}"
    items = await _fetch(
        connection,
        f"""
        {reached} SELECT {", ".join(f"r.{name}" for name in BRIEF)}, r.status, n.depth,
            ARRAY(SELECT s.id FROM steps s WHERE s.item_id = n.id ORDER BY s.id) AS via
        FROM reached n JOIN requirements r ON r.id = n.id ORDER BY n.depth, r.external_id, r.id LIMIT {MOST_ITEMS + 1}
        """,
        parameters,
    )
    if not items:
        raise REQUIREMENT.not_found()
    totals = await _fetch(
        connection,
        f"""
        {reached} SELECT n.depth, count(DISTINCT n.id) AS requirements,
            (SELECT count(*) FROM steps s WHERE s.depth = n.depth) AS relations,
            count(DISTINCT l.test_case_id) AS tests, count(l.id) AS links
        FROM reached n LEFT JOIN links l ON l.requirement_id = n.id GROUP BY n.depth ORDER BY n.depth
        """,
        parameters,
    )
    tests = await _tests(connection, [row["id"] for row in items], basis)
    origin, *others = items
    return {
        "requirement": {name: origin[name] for name in BRIEF},
        "direction": direction,
        "depth": depth,
        "relation_types": list(types),
        "becomes_suspect": await _becomes_suspect(connection, requirement_id),
        "tests": tests[origin["id"]],
        "items": [{**row, "tests": tests[row["id"]]} for row in others],
        "total": sum(row["requirements"] for row in totals) - 1,
        "totals": totals,
        "branch": basis.branch,
        "environment": basis.environment,
        "commit": basis.commit,
    }


async def _tests(connection: Connection, ids: list[UUID], basis: Basis) -> Mapping[UUID, list[Row]]:
    """Return the test cases of requirements with their verdicts, by requirement and name."""
    rows = await _fetch(
        connection,
        f"""
        WITH {requirement_verdicts(THESE, basis, of_few=True)}
        SELECT l.requirement_id, {", ".join(f"t.{name}" for name in BRIEF)}, l.id AS link_id, p.verdict
        FROM links l JOIN test_cases t ON t.id = l.test_case_id
        LEFT JOIN ({VERDICTS_OF_PAIRS}) p ON p.requirement_id = l.requirement_id AND p.test_case_id = t.id
        WHERE l.requirement_id = ANY(%(ids)s) ORDER BY t.external_id, t.id
        """,
        {"ids": ids, **basis.parameters},
    )
    found: dict[UUID, list[Row]] = {one: [] for one in ids}
    for row in rows:
        found[row.pop("requirement_id")].append(row)
    return found


async def _becomes_suspect(connection: Connection, requirement_id: UUID) -> Row:
    """Return what a change of meaning of the requirement makes suspect, and is not suspect yet."""
    relations = await _fetch(
        connection,
        f"""
        SELECT k.id, k.relation_type, {_short("c", "child")}, {_short("p", "parent")}, count(*) OVER () AS total
        FROM (
            SELECT * FROM requirement_relations WHERE child_id = %(id)s
            UNION ALL SELECT * FROM requirement_relations WHERE parent_id = %(id)s
        ) k JOIN requirements c ON c.id = k.child_id JOIN requirements p ON p.id = k.parent_id
        WHERE c.version <= k.child_version AND p.version <= k.parent_version
        ORDER BY p.external_id, c.external_id, k.id LIMIT {_MOST_NAMED}
        """,
        {"id": requirement_id},
    )
    links = await _fetch(
        connection,
        f"""
        SELECT l.id, l.link_type, {_short("t", "test_case")}, count(*) OVER () AS total
        FROM links l JOIN requirements r ON r.id = l.requirement_id JOIN test_cases t ON t.id = l.test_case_id
        WHERE l.requirement_id = %(id)s AND NOT {IS_SUSPECT} ORDER BY t.external_id, t.id LIMIT {_MOST_NAMED}
        """,
        {"id": requirement_id},
    )
    return {"relations": _counted(relations), "links": _counted(links)}


def _short(item: str, name: str) -> str:
    members = ", ".join(f"'{member}', {item}.{member}" for member in BRIEF)
    return f"json_build_object({members}) AS {name}"


def _counted(rows: list[Row]) -> Row:
    total = rows[0]["total"] if rows else 0
    return {"items": [{name: row[name] for name in row if name != "total"} for row in rows], "total": total}


async def _fetch(connection: Connection, query: str, parameters: Mapping[str, Any]) -> list[Row]:
    cursor = await connection.execute(query, parameters, prepare=False)
    return await cursor.fetchall()

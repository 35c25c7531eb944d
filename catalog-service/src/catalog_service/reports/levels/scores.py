"""The trace score of each level: what its requirements are to have above, below and as tests, and what is there."""

from collections.abc import Mapping, Sequence
from typing import Any

from catalog_service.answer_cache import AnswerCache, state
from catalog_service.items.suspicion import suspect_links
from catalog_service.levels import repository as levels
from catalog_service.levels.schemas import Need
from catalog_service.rolled.queries import ROLLS_UP, by_whole_tables
from chassis.db.database import Connection, Database
from chassis.web.listing import Row

_SIDES = {Need.PARENT: ("child", "parent"), Need.CHILD: ("parent", "child")}
"""Of a relation: the end that a requirement of a level is, and the one that it needs."""
_DERIVED = "(r.derived AND r.rationale IS NOT NULL)"
"""Whether a requirement has no parent on purpose, and says why."""
_IS_SUSPECT = "(c.version > k.child_version OR p.version > k.parent_version)"


def _related(need: Need) -> str:
    """Return the query of the requirements of a level that have one of the need's side: whether it is next, suspect.

    Where there is no level on that side, each counts as next.
    """
    own, other = _SIDES[need]
    step = "-" if need is Need.PARENT else "+"
    is_next = f"(n.key IS NULL OR {other[0]}.level IS NOT DISTINCT FROM n.key)"
    return f"""
        SELECT {own[0]}.id, bool_or({is_next}) AS is_next, bool_or({_IS_SUSPECT}) FILTER (WHERE {is_next}) AS is_suspect
        FROM requirement_relations k
        JOIN requirements c ON c.id = k.child_id JOIN requirements p ON p.id = k.parent_id
        JOIN project_levels o ON o.key = {own[0]}.level LEFT JOIN project_levels n ON n.place = o.place {step} 1
        WHERE {ROLLS_UP} GROUP BY {own[0]}.id
    """


_QUERY = f"""
    WITH above AS MATERIALIZED ({_related(Need.PARENT)}), below AS MATERIALIZED ({_related(Need.CHILD)}),
    doubted AS MATERIALIZED (SELECT DISTINCT requirement_id FROM ({suspect_links("l.requirement_id")}) AS suspect)
    SELECT r.level, count(*) AS requirements, count(*) FILTER (WHERE {_DERIVED}) AS derived,
        count(*) FILTER (WHERE NOT {_DERIVED} AND a.is_next) AS parent,
        count(*) FILTER (WHERE NOT {_DERIVED} AND NOT a.is_next) AS parent_elsewhere,
        count(*) FILTER (WHERE NOT {_DERIVED} AND a.is_next AND a.is_suspect) AS parent_suspect,
        count(*) FILTER (WHERE b.is_next) AS child,
        count(*) FILTER (WHERE NOT b.is_next) AS child_elsewhere,
        count(*) FILTER (WHERE b.is_next AND b.is_suspect) AS child_suspect,
        count(l.requirement_id) AS test, 0 AS test_elsewhere, count(d.requirement_id) AS test_suspect
    FROM requirements r LEFT JOIN above a ON a.id = r.id LEFT JOIN below b ON b.id = r.id
    LEFT JOIN linked_requirements l ON l.requirement_id = r.id LEFT JOIN doubted d ON d.requirement_id = r.id
    GROUP BY r.level
"""

_cache: AnswerCache[Row] = AnswerCache(1)


async def read_scores(database: Database, connection: Connection) -> Row:
    """Return the levels of the project with their scores, as the transaction of the connection sees them."""
    seen = await state(connection)
    known = (seen["changes"], seen["last_change"])
    return await _cache.get(database, "levels", known, lambda: _score(connection))


async def _score(connection: Connection) -> Row:
    defined = await levels.read(connection)
    counts: dict[str | None, Mapping[str, Any]] = {}
    if defined:
        async with by_whole_tables(connection):
            cursor = await connection.execute(_QUERY, prepare=False)
            counts = {row["level"]: row for row in await cursor.fetchall()}
    rows = [row for at in range(len(defined)) for row in _rows(defined, at, counts.get(defined[at]["key"], {}))]
    needed = [row for row in rows if row["needed"]]
    return {
        "levels": [{**one, "requirements": counts.get(one["key"], {}).get("requirements", 0)} for one in defined],
        "without_level": counts.get(None, {}).get("requirements", 0),
        "rows": rows,
        "share": _share(sum(row["present"] for row in needed), sum(row["expected"] for row in needed)),
    }


def _rows(defined: Sequence[Row], at: int, counts: Mapping[str, int]) -> list[Row]:
    """Return the rows of a level: the one above it, the one below it, and its tests."""
    level = defined[at]
    beside = {Need.PARENT: defined[at - 1] if at else None, Need.CHILD: (*defined[at + 1 : at + 2], None)[0]}
    rows = []
    for need in Need:
        other, needed = beside.get(need), need in level["needs"]
        if need in beside and other is None and not needed:
            continue
        expected = counts.get("requirements", 0) - (counts.get("derived", 0) if need is Need.PARENT else 0)
        rows.append(
            {
                "level": level["key"],
                "need": need.value,
                "other": None if other is None else other["key"],
                "needed": needed,
                "expected": expected,
                "present": counts.get(need.value, 0),
                "elsewhere": counts.get(f"{need.value}_elsewhere", 0),
                "suspect": counts.get(f"{need.value}_suspect", 0),
                "share": _share(counts.get(need.value, 0), expected),
            }
        )
    return rows


def _share(present: int, expected: int) -> float | None:
    return round(present / expected, 4) if expected else None

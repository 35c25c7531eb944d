"""What patterns of names would match of the tests that CI has run, before a project keeps them."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from catalog_service.executions import tests
from catalog_service.executions.incoming import NAMED_TEST_CASES
from catalog_service.executions.names import MOST_GUESSES, guesser
from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.web.listing import Row
from contracts.name_patterns import NamePattern

_AT_ONCE = 5000


class Effect(StrEnum):
    """What patterns would make of a test with its next results, in the order in which it is told."""

    CHANGED = "changed"
    NEW = "new"
    REMEMBERED = "remembered"
    UNKNOWN = "unknown"
    OVERRULED = "overruled"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class _Judged:
    id: int
    effect: Effect
    case_ids: list[UUID]


# As `incoming.match` and `incoming.find_tests` match the results of a file.
_JUDGED = f"""
    WITH found AS MATERIALIZED (
        SELECT * FROM unnest(%(tests)s::bigint[], %(words)s::text[]) AS one (test_id, word)
    ), named AS (
        SELECT test_id, array_agg(DISTINCT t.id ORDER BY t.id) AS case_ids
        FROM found CROSS JOIN LATERAL ({NAMED_TEST_CASES}) AS t GROUP BY test_id
    ), known AS (
        SELECT m.test_id, array_agg(t.id ORDER BY t.id) AS case_ids, bool_or(m.matched_by = 'named') AS is_named,
               bool_or(m.matched_by = 'name') AS is_by_name
        FROM automated_test_cases m JOIN test_cases t ON t.id = m.test_case_id GROUP BY m.test_id
    ), judged AS (
        SELECT a.id, a.class_name, a.name, coalesce(n.case_ids, '{{}}') AS case_ids, CASE
            WHEN n.case_ids = k.case_ids THEN '{Effect.SAME}'
            WHEN n.case_ids IS NOT NULL AND k.is_named THEN '{Effect.OVERRULED}'
            WHEN n.case_ids IS NOT NULL AND k.case_ids IS NULL THEN '{Effect.NEW}'
            WHEN n.case_ids IS NOT NULL THEN '{Effect.CHANGED}'
            WHEN k.is_by_name THEN '{Effect.REMEMBERED}'
            WHEN a.id IN (SELECT test_id FROM found) THEN '{Effect.UNKNOWN}' END AS effect
        FROM automated_tests a LEFT JOIN named n ON n.test_id = a.id LEFT JOIN known k ON k.test_id = a.id
        WHERE NOT a.is_manual AND a.merged_into IS NULL
    )
    SELECT id, effect, case_ids FROM judged WHERE effect IS NOT NULL
    ORDER BY array_position(%(order)s::text[], effect), class_name, name, id
"""


async def try_out(connection: Connection, patterns: Sequence[NamePattern] | None, skip: int, limit: int) -> Row:
    """Return what patterns would make of tests, and a page of these; None: what is looked for without any."""
    finders = [guesser(None)] if patterns is None else [guesser([pattern]) for pattern in patterns]
    total = 0
    words: dict[int, list[str]] = {}
    found_by: Counter[int] = Counter()
    async with connection.cursor("names") as cursor:
        await cursor.execute(
            "SELECT id, name, full_name FROM automated_tests WHERE NOT is_manual AND merged_into IS NULL"
        )
        while rows := await cursor.fetchmany(_AT_ONCE):
            total += len(rows)
            words |= await asyncio.to_thread(_find, rows, finders, found_by)
    pairs = [(test, word) for test, some in words.items() for word in some]
    judged = await fetch_all(
        connection,
        _Judged,
        _JUDGED,
        {"tests": [test for test, _ in pairs], "words": [word for _, word in pairs], "order": [*Effect]},
    )
    effects = Counter(one.effect for one in judged)
    shown = judged[skip : skip + limit]
    return {
        "tests": total,
        "effects": {effect.value: effects[effect] for effect in Effect},
        "patterns": [
            {**pattern.model_dump(), "tests": found_by[number]} for number, pattern in enumerate(patterns or ())
        ],
        "items": await _shown(connection, shown, words),
        "total": len(judged),
    }


def _find(
    rows: list[dict[str, Any]], finders: list[Callable[[str], list[str]]], found_by: Counter[int]
) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for row in rows:
        names = {row["name"], row["full_name"] or row["name"]}
        words: dict[str, None] = {}
        for number, finder in enumerate(finders):
            some = [word for name in names for word in finder(name)]
            found_by[number] += bool(some)
            words |= dict.fromkeys(some)
        if words:
            found[row["id"]] = [*words][:MOST_GUESSES]
    return found


async def _shown(connection: Connection, judged: list[_Judged], words: dict[int, list[str]]) -> list[Row]:
    known = await tests.of_ids(connection, [one.id for one in judged])
    cursor = await connection.execute(
        "SELECT id, external_id, title, module FROM test_cases WHERE id = ANY(%s)",
        ([case for one in judged for case in one.case_ids],),
    )
    cases = {row["id"]: row for row in await cursor.fetchall()}
    return [
        {
            "test": known[one.id],
            "effect": one.effect,
            "external_ids": words.get(one.id, []),
            "test_cases": [cases[case] for case in one.case_ids],
        }
        for one in judged
    ]

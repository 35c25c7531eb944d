"""The SQL of what requirements come to with those below them; `rules` says the same of figures.

Relations make a graph in which several ways lead to one requirement: each query goes by UNION, which follows a pair
once.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from catalog_service.rolled.rules import MOST_NAMED, WORST_FIRST, RolledCoverage
from catalog_service.values import ROLLING_TYPES
from catalog_service.verdicts import Basis, Verdict, requirement_verdicts
from chassis.db.database import Connection

ROLLS_UP = f"k.relation_type IN {ROLLING_TYPES}"
"""Whether a relation `k` makes its child count for its parent."""
HAS_ROLLING = f"SELECT EXISTS (SELECT FROM requirement_relations k WHERE {ROLLS_UP})"
"""The query of whether anything in the project rolls up."""

_BIT = {one: 1 << place for place, one in enumerate(Verdict)}
_COUNTS = ", ".join(f"count(*) FILTER (WHERE verdict = '{one}') AS {one}" for one in Verdict)
_SEVERITY = f"array_position(ARRAY[{', '.join(repr(one.value) for one in WORST_FIRST)}], verdict)"


def _bits(*verdicts: Verdict) -> int:
    return sum(_BIT[one] for one in verdicts)


_ROLLED_VERDICT = f"""CASE WHEN verdicts = {_bits(Verdict.UNCOVERED)} THEN 'uncovered'
    WHEN verdicts & {_bits(Verdict.FAILED)} > 0 THEN 'failed' WHEN verdicts & {_bits(Verdict.FLAKY)} > 0 THEN 'flaky'
    WHEN verdicts & {_bits(Verdict.PASSED, Verdict.STALE, Verdict.PARTIAL)} > 0
        AND verdicts & {_bits(Verdict.UNCOVERED, Verdict.PARTIAL, Verdict.NOT_RUN)} > 0 THEN 'partial'
    WHEN verdicts & {_bits(Verdict.NOT_RUN)} > 0 THEN 'not_run'
    WHEN verdicts & {_bits(Verdict.STALE)} > 0 THEN 'stale' ELSE 'passed' END"""
_BIT_OF_VERDICT = f"CASE verdict {' '.join(f'WHEN {one.value!r} THEN {bit}' for one, bit in _BIT.items())} END"


def _has_children(requirement: str) -> str:
    return f"EXISTS (SELECT FROM requirement_relations k WHERE k.parent_id = {requirement} AND {ROLLS_UP})"


def _has_link(requirement: str) -> str:
    return f"EXISTS (SELECT FROM linked_requirements o WHERE o.requirement_id = {requirement})"


def _below(name: str, roots: str, goes_on: str = "") -> str:
    """Return the expression of `root_id, id`: each root, and what stands below it."""
    return f"""{name} (root_id, id) AS (
        SELECT id, id FROM ({roots}) AS roots
        UNION SELECT b.root_id, k.child_id FROM {name} b JOIN requirement_relations k ON k.parent_id = b.id
        WHERE {ROLLS_UP} {goes_on}
    )"""


def count_below(roots: str) -> str:
    """Return the query of how many requirements there are in all, among and below the roots that a query names."""
    return f"WITH RECURSIVE {_below('below', roots)} SELECT count(DISTINCT id) FROM below"


def rolled_verdicts_of(roots: str, basis: Basis, *, of_few: bool) -> str:
    """Return the query of the roots with how often their members have which verdict, the worst members and coverage.

    `roots` is a query of ids; `of_few` as for requirement_verdicts. Parameters: those of the Basis and of `roots`.
    """
    return f"""
        WITH RECURSIVE {_below("below", roots)},
        {_below("untested", roots, f"AND NOT {_has_link('b.id')}")},
        {requirement_verdicts("SELECT DISTINCT id FROM below", basis, of_few=of_few)},
        members AS (
            SELECT b.root_id, v.requirement_id, v.verdict, r.external_id
            FROM below b JOIN verdicts v ON v.requirement_id = b.id JOIN requirements r ON r.id = b.id
            WHERE v.verdict <> 'uncovered' OR NOT {_has_children("v.requirement_id")}
        ), rolled AS (
            SELECT root_id, {_COUNTS},
                   (array_agg(requirement_id ORDER BY {_SEVERITY}, external_id, requirement_id)
                    FILTER (WHERE verdict <> 'passed'))[:{MOST_NAMED}] AS worst
            FROM members GROUP BY root_id
        ), tested AS (
            SELECT root_id, bool_or({_has_link("b.id")}) AS has_tested,
                   bool_or(NOT {_has_link("b.id")} AND NOT {_has_children("b.id")}) AS has_untested
            FROM untested b GROUP BY root_id
        )
        SELECT rolled.*, {_has_link("root_id")} AS has_link, has_tested, has_untested
        FROM rolled JOIN tested USING (root_id)"""


def all_rolled_verdicts(basis: Basis) -> str:
    """Return common table expressions, recursive, that end with `rolled_verdicts`: requirement_id, verdict of all.

    Each verdict goes up once, whichever way: at most seven rows a requirement. Parameters: those of a Basis.
    """
    return f"""{requirement_verdicts(None, basis)}, climbing (requirement_id, flag) AS (
        SELECT requirement_id, {_BIT_OF_VERDICT} FROM verdicts
        WHERE verdict <> 'uncovered' OR NOT {_has_children("requirement_id")}
        UNION SELECT k.parent_id, c.flag FROM climbing c JOIN requirement_relations k ON k.child_id = c.requirement_id
        WHERE {ROLLS_UP}
    ), rolled_verdicts AS (
        SELECT requirement_id, {_ROLLED_VERDICT} AS verdict
        FROM (SELECT requirement_id, bit_or(flag) AS verdicts FROM climbing GROUP BY requirement_id) AS flags
    )"""


ALL_ROLLED_COVERAGE = f"""tests_below (requirement_id, is_tested) AS (
        SELECT requirement_id, true FROM linked_requirements
        UNION SELECT r.id, false FROM requirements r WHERE NOT {_has_link("r.id")} AND NOT {_has_children("r.id")}
        UNION SELECT k.parent_id, t.is_tested FROM tests_below t JOIN requirement_relations k
            ON k.child_id = t.requirement_id WHERE {ROLLS_UP} AND NOT {_has_link("k.parent_id")}
    ), rolled_coverage AS (
        SELECT requirement_id, CASE WHEN {_has_link("t.requirement_id")} THEN '{RolledCoverage.COVERED}'
            WHEN NOT bool_or(is_tested) THEN '{RolledCoverage.UNCOVERED}'
            WHEN bool_and(is_tested) THEN '{RolledCoverage.COVERED_BELOW}' ELSE '{RolledCoverage.PARTLY_BELOW}'
            END AS coverage
        FROM tests_below t GROUP BY requirement_id
    )"""
"""Common table expressions, recursive, that end with `rolled_coverage`: requirement_id, coverage of all."""


@asynccontextmanager
async def by_whole_tables(connection: Connection) -> AsyncIterator[None]:
    """Have queries over all requirements look at each row once, however few PostgreSQL believes that there are.

    After many have come at once it does not know of them, and looks for each of them anew: that takes minutes.
    """
    await connection.execute("SET LOCAL enable_nestloop = off")
    yield
    await connection.execute("SET LOCAL enable_nestloop = on")

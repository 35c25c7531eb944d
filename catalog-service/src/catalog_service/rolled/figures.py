"""How many requirements of a part of the record have which rolled verdict, and how many are covered, or below."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog_service.answer_cache import AnswerCache, state_of_verdicts
from catalog_service.figures import MOST_NAMED, AgingFigures, Figures, Group, figures
from catalog_service.rolled import queries
from catalog_service.rolled.reads import has_rolling
from catalog_service.rolled.rules import RolledCoverage
from catalog_service.verdicts import VERDICTS_OF_THEIR_TEST_CASES, Basis
from chassis.db.database import Connection, Database


@dataclass(frozen=True, slots=True)
class RolledFigures(AgingFigures):
    """What requirements of a part of the record come to with those below them, wherever these are."""

    by_verdict: Mapping[str, Group]
    """Those that have a rolled verdict, whether they have a link or not."""

    @property
    def total(self) -> int:
        """How many requirements there are."""
        return sum(group.count for group in self.by_verdict.values())


_cache: AnswerCache[RolledFigures] = AnswerCache(64)


async def rolled_figures(
    database: Database, connection: Connection, scope: str | None, parameters: Mapping[str, Any], basis: Basis
) -> RolledFigures:
    """Return the figures of a part of the record, as the transaction of the connection sees it.

    `scope` is a query of the ids of requirements with its parameters; None: of all.
    """
    if not await has_rolling(connection):
        return _own(await figures(database, connection, scope, parameters, basis))
    return await _cache.get(
        database,
        (scope, repr(parameters), basis.question),
        await state_of_verdicts(connection),
        lambda: _count(connection, scope, parameters, basis),
        is_right=lambda known: known.are_of(basis.stale_before),
    )


def _own(found: Figures) -> RolledFigures:
    """Return the figures of requirements with nothing below them."""
    by_verdict: dict[str, Group] = {}
    for group in found.groups:
        known = by_verdict.get(group.verdict)
        if known is not None:
            group = Group(group.verdict, True, known.count + group.count, [*known.first, *group.first])
        by_verdict[group.verdict] = group
    return RolledFigures(by_verdict, stale_before=found.stale_before, first_stale=found.first_stale)


async def _count(
    connection: Connection, scope: str | None, parameters: Mapping[str, Any], basis: Basis
) -> RolledFigures:
    in_scope = "" if scope is None else f"WHERE r.id IN ({scope})"
    cursor = await connection.execute(
        f"""
        WITH RECURSIVE {queries.all_rolled_verdicts(basis)}, {VERDICTS_OF_THEIR_TEST_CASES}, numbered AS (
            SELECT r.id, v.verdict,
                   row_number() OVER (PARTITION BY v.verdict ORDER BY r.module, r.external_id, r.id) AS n
            FROM rolled_verdicts v JOIN requirements r ON r.id = v.requirement_id {in_scope}
        )
        SELECT verdict, count(*) AS count,
               array_agg(id ORDER BY n) FILTER (WHERE n <= {MOST_NAMED}) AS first, NULL::timestamptz AS first_stale
        FROM numbered GROUP BY verdict
        UNION ALL SELECT NULL, 0, NULL, min(ages_from) FROM test_case_verdicts WHERE verdict = 'passed'
        """,
        {**parameters, **basis.parameters},
        prepare=False,
    )
    rows = await cursor.fetchall()
    groups = {row["verdict"]: Group(row["verdict"], True, row["count"], row["first"]) for row in rows if row["verdict"]}
    (ages_from,) = (row["first_stale"] for row in rows if row["verdict"] is None)
    return RolledFigures(groups, stale_before=basis.stale_before, first_stale=ages_from)


_IS_COVERED = f"coverage IN ('{RolledCoverage.COVERED}', '{RolledCoverage.COVERED_BELOW}')"


async def count_covered_by_module(connection: Connection) -> dict[str | None, int]:
    """Return how many requirements of each module are covered, by themselves or below."""
    cursor = await connection.execute(
        f"""
        WITH RECURSIVE {queries.ALL_ROLLED_COVERAGE}
        SELECT r.module, count(*) AS covered FROM requirements r JOIN rolled_coverage c ON c.requirement_id = r.id
        WHERE {_IS_COVERED} GROUP BY r.module
        """,
        prepare=False,
    )
    return {row["module"]: row["covered"] for row in await cursor.fetchall()}

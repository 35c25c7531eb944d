"""How many requirements and test cases of a part of the record have which verdict, and which come first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from catalog_service.answer_cache import AnswerCache, state_of_verdicts
from catalog_service.verdicts import (
    VERDICTS_OF_THEIR_TEST_CASES,
    Basis,
    TestCaseVerdict,
    Verdict,
    requirement_verdicts,
)
from chassis.db.database import Connection, Database

MOST_NAMED = 50


@dataclass(frozen=True, slots=True)
class Group:
    """Requirements with the same verdict that all have a link, of whatever kind, or all have none."""

    verdict: str
    linked: bool
    count: int
    first: list[UUID]
    """At most MOST_NAMED, by module, external id and id."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The test cases that count for one of the requirements, and have a test that is missing."""

    count: int
    first: list[UUID]
    """At most MOST_NAMED, by external id and id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgingFigures:
    """Figures that are others once a pass is too old."""

    stale_before: datetime
    """For which limit of the age of a pass they were counted."""
    first_stale: datetime | None
    """They are the same up to this limit; None: for every later one."""

    def are_of(self, limit: datetime) -> bool:
        """Check whether they are right for a limit of the age of a pass."""
        return self.stale_before <= limit and (self.first_stale is None or limit <= self.first_stale)


@dataclass(frozen=True, slots=True)
class Figures(AgingFigures):
    """What there is of a part of the record."""

    groups: tuple[Group, ...]
    test_cases: Mapping[str, int]
    """Those that count for one of the requirements, by their verdicts."""
    missing: Missing

    @property
    def total(self) -> int:
        """How many requirements there are."""
        return sum(group.count for group in self.groups)

    def having(self, verdicts: Iterable[str]) -> list[Group]:
        """Return the groups with one of these verdicts."""
        wanted = {*verdicts}
        return [group for group in self.groups if group.verdict in wanted]

    @property
    def by_verdict(self) -> dict[str, int]:
        """How many requirements have which verdict."""
        return {one.value: sum(group.count for group in self.having([one])) for one in Verdict}


_cache: AnswerCache[Figures] = AnswerCache(256)


async def figures(
    database: Database, connection: Connection, scope: str | None, parameters: Mapping[str, Any], basis: Basis
) -> Figures:
    """Return the figures of a part of the record, as the transaction of the connection sees it.

    `scope` is a query of the ids of requirements with its parameters; None: of all.
    """
    return await _cache.get(
        database,
        (scope, repr(parameters), basis.question),
        await state_of_verdicts(connection),
        lambda: _count(connection, scope, parameters, basis),
        is_right=lambda known: known.are_of(basis.stale_before),
    )


_COUNTED = f"""
    placed AS (
        SELECT id, row_number() OVER (ORDER BY module, external_id, id) AS place FROM requirements
    ), grouped AS (
        SELECT v.requirement_id, v.verdict, p.place, v.verdict <> 'uncovered' OR EXISTS (
            SELECT FROM linked_requirements k WHERE k.requirement_id = v.requirement_id) AS linked
        FROM verdicts v JOIN placed p ON p.id = v.requirement_id
    ), numbered AS (
        SELECT *, row_number() OVER (PARTITION BY verdict, linked ORDER BY place) AS n FROM grouped
    )
    SELECT verdict, linked, count(*) AS count,
           array_agg(requirement_id ORDER BY n) FILTER (WHERE n <= {MOST_NAMED}) AS first,
           NULL::timestamptz AS first_stale
    FROM numbered GROUP BY verdict, linked
    UNION ALL
    SELECT verdict, NULL, count(*), NULL, min(ages_from)
    FROM test_case_verdicts GROUP BY verdict
    UNION ALL
    SELECT NULL, NULL, count(*), (array_agg(test_case_id ORDER BY external_id, test_case_id))[:{MOST_NAMED}], NULL
    FROM test_case_verdicts JOIN test_cases ON id = test_case_id WHERE has_missing
"""


async def _count(connection: Connection, scope: str | None, parameters: Mapping[str, Any], basis: Basis) -> Figures:
    cursor = await connection.execute(
        f"WITH {requirement_verdicts(scope, basis)}, {VERDICTS_OF_THEIR_TEST_CASES}, {_COUNTED}",
        {**parameters, **basis.parameters},
        prepare=False,
    )
    rows = await cursor.fetchall()
    of_test_cases = [row for row in rows if row["linked"] is None and row["verdict"] is not None]
    (missing,) = (row for row in rows if row["verdict"] is None)
    counts = {row["verdict"]: row["count"] for row in of_test_cases}
    return Figures(
        tuple(
            Group(row["verdict"], row["linked"], row["count"], row["first"])
            for row in rows
            if row["linked"] is not None
        ),
        {one.value: counts.get(one.value, 0) for one in TestCaseVerdict},
        Missing(missing["count"], missing["first"] or []),
        stale_before=basis.stale_before,
        first_stale=min((row["first_stale"] for row in of_test_cases if row["first_stale"] is not None), default=None),
    )

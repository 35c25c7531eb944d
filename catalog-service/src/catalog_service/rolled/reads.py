"""What requirements come to with those below them, as it is answered."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypedDict, TypeVar
from uuid import UUID

import orjson
from psycopg.rows import tuple_row

from catalog_service import verdict_filters
from catalog_service.rolled import queries
from catalog_service.rolled.rules import roll_coverage, roll_verdict
from catalog_service.verdicts import THESE, Basis, Verdict
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value
from chassis.web.listing import Row
from chassis.web.parameters import Choice

E = TypeVar("E", bound=StrEnum)

_FEW = 10_000
"""Of so many requirements, the results of their test cases alone are looked at."""


class Rolled(TypedDict):
    """The rolled verdict of a requirement, with what it can be worked out from again."""

    verdict: str
    counts: dict[str, int]
    worst: list[UUID]


class RolledRow(TypedDict):
    """What is answered of a requirement."""

    rolled: Rolled
    rolled_coverage: str


async def has_rolling(connection: Connection) -> bool:
    """Check whether anything in the project rolls up; where nothing does, what is rolled is what each has itself."""
    found: bool = await fetch_value(connection, queries.HAS_ROLLING)
    return found


async def of_requirements(connection: Connection, ids: Sequence[UUID], basis: Basis) -> dict[UUID, RolledRow]:
    """Return what some requirements come to with those below them."""
    if not ids:
        return {}
    parameters = {"ids": list(ids), **basis.parameters}
    few = await fetch_value(connection, queries.count_below(THESE), {"ids": list(ids)}) <= _FEW
    cursor = await connection.execute(queries.rolled_verdicts_of(THESE, basis, of_few=few), parameters, prepare=False)
    return {row["root_id"]: _rolled(row) for row in await cursor.fetchall()}


async def all_rolled(connection: Connection, basis: Basis) -> dict[UUID, Row]:
    """Return the `rolled_verdict` and `rolled_coverage` of all requirements."""
    cursor = connection.cursor(row_factory=tuple_row)
    await cursor.execute(
        f"""
        WITH RECURSIVE {queries.all_rolled_verdicts(basis)}, {queries.ALL_ROLLED_COVERAGE}
        SELECT requirement_id, v.verdict, c.coverage
        FROM rolled_verdicts v JOIN rolled_coverage c USING (requirement_id)
        """,
        basis.parameters,
        prepare=False,
    )
    rows = await cursor.fetchall()
    return {key: {"rolled_verdict": verdict, "rolled_coverage": coverage} for key, verdict, coverage in rows}


async def add_to_items(connection: Connection, items: Any, basis: Basis) -> list[Row]:
    """Return items, which may be their JSON, each with what it comes to with those below it."""
    rows: list[Row] = orjson.loads(orjson.dumps(items))
    found = await of_requirements(connection, [UUID(row["id"]) for row in rows], basis)
    for row in rows:
        row |= found[UUID(row["id"])]
    return rows


def _rolled(row: Mapping[str, Any]) -> RolledRow:
    counts = {one.value: row[one.value] for one in Verdict}
    coverage = roll_coverage(has_link=row["has_link"], has_tested=row["has_tested"], has_untested=row["has_untested"])
    rolled: Rolled = {"verdict": roll_verdict(counts).value, "counts": counts, "worst": row["worst"] or []}
    return {"rolled": rolled, "rolled_coverage": coverage.value}


async def with_verdict(connection: Connection, chosen: Choice[E], basis: Basis) -> list[UUID]:
    """Return the ids of the requirements that have a rolled verdict that is chosen."""
    if not await has_rolling(connection):
        return await verdict_filters.requirements_with(connection, chosen, basis)
    return await fetch_column(
        connection,
        f"WITH RECURSIVE {queries.all_rolled_verdicts(basis)}"
        " SELECT requirement_id FROM rolled_verdicts WHERE verdict = ANY(%(wanted)s)",
        {"wanted": verdict_filters.chosen_of(Verdict, chosen), **basis.parameters},
    )

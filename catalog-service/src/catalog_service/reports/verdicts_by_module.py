"""How many requirements of each module have which verdict, beside how many are covered and what is suspect."""

from dataclasses import dataclass
from typing import Any

from catalog_service.answer_cache import AnswerCache, state_of_verdicts
from catalog_service.figures import AgingFigures
from catalog_service.reports.repository import by_module
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import VERDICTS_OF_THEIR_TEST_CASES, Basis, Verdict, requirement_verdicts
from chassis.db.database import Connection, Database
from chassis.web.listing import Row

_VERDICTS = f"""
    SELECT r.module, {", ".join(f"count(*) FILTER (WHERE v.verdict = '{one}') AS {one}" for one in Verdict)},
           false AS is_time, NULL::timestamptz AS first_stale
    FROM verdicts v JOIN requirements r ON r.id = v.requirement_id GROUP BY r.module
    UNION ALL
    SELECT NULL, {", ".join("0" for _ in Verdict)}, true, min(ages_from) FROM test_case_verdicts
"""


@dataclass(frozen=True, slots=True)
class _Known(AgingFigures):
    modules: list[Row]


_cache: AnswerCache[_Known] = AnswerCache(64)


async def verdicts_by_module(database: Database, basis: Basis) -> Row:
    """Return `items`, one a module that requirements are in, and `overall`, their sum."""
    async with snapshot(database) as connection:
        known = await _cache.get(
            database,
            basis.question,
            await state_of_verdicts(connection),
            lambda: _count(connection, basis),
            is_right=lambda known: known.are_of(basis.stale_before),
        )
    names = ("total_requirements", "covered_requirements", "suspect_links")
    overall: Row = {name: sum(module[name] for module in known.modules) for name in names}
    overall["requirements"] = {
        one.value: sum(module["requirements"][one] for module in known.modules) for one in Verdict
    }
    return {"branch": basis.branch, "items": known.modules, "overall": overall}


async def _count(connection: Connection, basis: Basis) -> _Known:
    query = f"WITH {requirement_verdicts(None, basis)}, {VERDICTS_OF_THEIR_TEST_CASES} {_VERDICTS}"
    cursor = await connection.execute(query, basis.parameters, prepare=False)
    rows: list[dict[str, Any]] = await cursor.fetchall()
    (first_stale,) = (row["first_stale"] for row in rows if row["is_time"])
    verdicts = {row["module"]: {one.value: row[one] for one in Verdict} for row in rows if not row["is_time"]}
    modules: list[Row] = [
        {
            "module": counts["module"],
            "total_requirements": counts["total_requirements"],
            "covered_requirements": counts["covered_requirements"],
            "suspect_links": counts["suspect_links"],
            "requirements": verdicts[counts["module"]],
        }
        for counts in await by_module(connection)
        if counts["total_requirements"]
    ]
    return _Known(modules, stale_before=basis.stale_before, first_stale=first_stale)

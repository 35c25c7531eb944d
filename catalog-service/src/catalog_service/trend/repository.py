"""Table `coverage_days`."""

from collections.abc import Iterable
from datetime import date
from typing import TypedDict

import orjson

from chassis.db.database import Connection
from chassis.db.rows import fetch_all
from chassis.web.parameters import Choice


class Day(TypedDict):
    """The figures of a day, of a module or `overall`; the module is empty for what is in none."""

    day: date
    overall: bool
    module: str
    total_requirements: int
    covered_requirements: int
    suspect_links: int


# A module that has vanished since the last look is not in today's rows; those of the past stay.
_KEEP = """
WITH rows AS (
    SELECT * FROM json_to_recordset(%(rows)s::json) AS given (day date, overall boolean, module text,
        total_requirements integer, covered_requirements integer, suspect_links bigint)
), vanished AS (
    DELETE FROM coverage_days AS known WHERE day = %(day)s AND NOT EXISTS (
        SELECT FROM rows WHERE rows.overall = known.overall AND rows.module = known.module)
)
INSERT INTO coverage_days (day, overall, module, total_requirements, covered_requirements, suspect_links)
SELECT * FROM rows
ON CONFLICT (project_id, overall, module, day) DO UPDATE SET total_requirements = excluded.total_requirements,
    covered_requirements = excluded.covered_requirements, suspect_links = excluded.suspect_links
"""


async def keep(connection: Connection, day: date, rows: Iterable[Day]) -> None:
    """Store all figures of a day, as they are now."""
    await connection.execute(_KEEP, {"day": day, "rows": orjson.dumps([*rows]).decode()})


_OVERALL = "overall AND module = ''"
_OF_MODULES = """
    NOT overall AND (%(included)s::text[] = '{}' OR module = ANY(%(included)s)) AND module <> ALL(%(excluded)s::text[])
"""


async def between(connection: Connection, after: date, before: date, modules: Choice[str] | None) -> list[Day]:
    """Return what was kept of the days between the two, by day; overall where no modules are asked for."""
    chosen = {} if modules is None else {"included": [*modules.included], "excluded": [*modules.excluded]}
    return await fetch_all(
        connection,
        Day,
        f"""
        SELECT day, overall, module, total_requirements, covered_requirements, suspect_links FROM coverage_days
        WHERE {_OVERALL if modules is None else _OF_MODULES} AND day > %(after)s AND day < %(before)s
        ORDER BY day, module
        """,
        {"after": after, "before": before, **chosen},
    )

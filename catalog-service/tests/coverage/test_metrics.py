"""Coverage by module as those who run Traceline see it: the truth, in few series."""

from typing import Any

from catalog_service.coverage.metrics import of_modules
from catalog_service.coverage.projector import CoverageProjector
from chassis.db.database import Database
from chassis.messaging import outbox
from testing.metrics import measured


async def test_requirements_and_their_coverage_show_by_module(catalog: Any, database: Database) -> None:
    covered, _ = await catalog.requirement(module="brakes"), await catalog.requirement(module="brakes")
    await catalog.requirement(module='doors "left"')
    await catalog.requirement()
    for _ in range(2):
        await catalog.link(covered, await catalog.test_case(module="elsewhere"))
    await outbox.number(catalog.database)
    await CoverageProjector(catalog.database, 0.8).project()
    series = await measured(of_modules(catalog.database))
    assert {name: value for name, value in series.items() if name.startswith(("traceline_req", "traceline_cov"))} == {
        'traceline_requirements{module="brakes"}': 2,
        'traceline_requirements{module="doors "left""}': 1,
        'traceline_requirements{module="none"}': 1,
        'traceline_coverage_ratio{module="brakes"}': 0.5,
        'traceline_coverage_ratio{module="doors "left""}': 0,
        'traceline_coverage_ratio{module="none"}': 0,
    }


async def test_of_very_many_modules_the_largest_have_series_of_their_own(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute(
            "INSERT INTO requirements"
            " (id, title, description, type, priority, status, module, version, created_at, updated_at)"
            " SELECT gen_random_uuid(), 'A title', 'What it is about.', 'functional', 'low', 'draft',"
            " 'm' || least(n, 1000 + n / 2), 1, now(), now() FROM generate_series(1, 2000) n"
        )
    series = await measured(of_modules(database))
    numbers = [value for name, value in series.items() if name.startswith("traceline_requirements")]
    assert (len(numbers), sum(numbers)) == (51, 2000)

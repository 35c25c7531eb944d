"""Imports that end before their last row is applied."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from testing.service import Json, problem

REFUSED = "Not this one"


@pytest.fixture
async def planned(imports: Any) -> AsyncIterator[Json]:
    """An import of three requirements, and a test case that the database does not take."""
    catalog = imports.catalog
    await catalog.rows(
        "CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'forbidden'; END $$"
    )
    await catalog.rows(
        f"CREATE TRIGGER forbid BEFORE INSERT ON test_cases FOR EACH ROW WHEN (NEW.title = '{REFUSED}')"
        " EXECUTE FUNCTION forbid()"
    )
    yield await imports.plan(*(imports.requirement() for _ in range(3)), imports.test_case(title=REFUSED))
    await catalog.rows("DROP FUNCTION forbid CASCADE")


@pytest.mark.parametrize(("atomic", "told"), [(False, [{"requirement": {"create": 3}}]), (True, [])])
async def test_one_that_fails_tells_what_it_has_applied(
    imports: Any, planned: Json, atomic: bool, told: list[Json]
) -> None:
    catalog = imports.catalog
    answer = await catalog.post(f"/imports/{planned['id']}/apply", {"atomic": atomic})
    problem(answer, 500, "internal_error")
    failed = await catalog.read(f"/imports/{planned['id']}")
    assert failed["status"] == "failed"
    assert ("3 of its 4 changes are in the record." in failed["error"]["detail"]) is not atomic
    assert failed["counts"]["test_cases"]["conflict"] == (0 if atomic else 1)
    refused = [row["title"] for row in await imports.rows(planned, code="not_applied")]
    assert refused == ([] if atomic else [REFUSED])
    applied = [event["data"] for event in await catalog.events("catalog.import.applied")]
    assert [data["counts"] for data in applied if data["import_id"] == planned["id"]] == told
    created = await catalog.events("catalog.requirement.created")
    assert len([event for event in created if event.get("batchid") == planned["id"]]) == sum(
        counts["requirement"]["create"] for counts in told
    )

"""Figures are worked out once for a state of the record, and never told of another one."""

import asyncio
from datetime import UTC, datetime, timedelta

from catalog_service.answer_cache import AnswerCache
from catalog_service.executions import retention
from catalog_service.figures import figures
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis
from chassis.core import projects

from .conftest import Results


async def test_a_new_state_has_a_new_answer_and_the_same_state_the_one_that_is_known(results: Results) -> None:
    cache: AnswerCache[int] = AnswerCache(2)
    database, given = results.catalog.database, iter(range(9))

    async def answer() -> int:
        await asyncio.sleep(0)
        return next(given)

    assert await asyncio.gather(*(cache.get(database, "a", 1, answer) for _ in range(3))) == [0, 0, 0]
    assert await cache.get(database, "a", 2, answer) == 1
    assert await cache.get(database, "a", 2, answer, is_right=lambda known: known > 1) == 2
    with projects.within("OTHER"):
        assert await cache.get(database, "a", 2, answer) == 3
    assert await cache.get(database, "b", 2, answer) == 4
    assert await cache.get(database, "a", 2, answer) == 5, "two are cached"


async def verdicts_of(results: Results, module: str, branch: str, at: datetime) -> dict[str, int]:
    """Return how many requirements of a module have which verdict at a time, as it is told then."""
    basis = Basis(branch, "main", at, timedelta(days=14))
    async with snapshot(results.catalog.database) as connection:
        scope = "SELECT id FROM requirements WHERE module = %(module)s"
        found = await figures(results.catalog.database, connection, scope, {"module": module}, basis)
    return {verdict: n for verdict, n in found.by_verdict.items() if n}


async def test_what_changes_how_they_stand_changes_the_figures(results: Results) -> None:
    module, branch, number = (results.catalog.word() for _ in range(3))
    requirement = await results.catalog.requirement(module=module)
    test_case = await results.catalog.test_case(external_id=f"T{number}")
    await results.catalog.link(requirement, test_case)
    now = datetime.now(UTC)

    async def verdicts(at: datetime) -> dict[str, int]:
        return await verdicts_of(results, module, branch, at)

    assert await verdicts(now) == {"not_run": 1}
    await results.send((f"[{test_case['external_id']}]", "passed"), branch=branch)
    assert await verdicts(datetime.now(UTC)) == {"passed": 1}
    assert await verdicts(now + timedelta(days=15)) == {"stale": 1}, "nothing has changed, but time goes by"
    assert await verdicts(datetime.now(UTC)) == {"passed": 1}
    await retention.prune(
        results.catalog.database, now + timedelta(days=500), retention=timedelta(days=400), default_branch="main"
    )
    assert await verdicts(datetime.now(UTC)) == {"not_run": 1}, (
        "the branch and what ran there are gone, in all projects"
    )


async def test_a_pass_becomes_too_old_for_one_requirement_though_it_is_stale_for_another(results: Results) -> None:
    module, branch, number = (results.catalog.word() for _ in range(3))
    test_case = await results.catalog.test_case(external_id=f"T{number}")
    changed, unchanged = [await results.catalog.requirement(module=module) for _ in range(2)]
    for requirement in (changed, unchanged):
        await results.catalog.link(requirement, test_case)
    await results.send((f"[{test_case['external_id']}]", "passed"), branch=branch)
    await results.catalog.patch(f"/requirements/{changed['id']}", {"description": "Something else."})
    now = datetime.now(UTC)
    assert await verdicts_of(results, module, branch, now) == {"stale": 1, "passed": 1}
    assert await verdicts_of(results, module, branch, now + timedelta(days=15)) == {"stale": 2}

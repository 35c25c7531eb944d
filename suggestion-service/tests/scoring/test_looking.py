"""Whether links are still looked for: nothing is called complete that is not known to be."""

from typing import Any

from chassis.core import projects

COMPLETE = {"is_complete": True, "done": 0, "total": 0}


async def progress(service: Any) -> Any:
    return await service.read("/suggestions/progress")


async def test_it_is_complete_once_all_that_was_changed_has_arrived_and_was_scored(service: Any, catalog: Any) -> None:
    assert await progress(service) == COMPLETE
    for number in range(3):
        catalog.requirement(f"The door {number} is locked")
    assert await progress(service) == {"is_complete": False, "done": 0, "total": 3}, "told, and not here yet"
    await service.follow()
    assert await progress(service) == {"is_complete": False, "done": 0, "total": 3}, "here, and not scored yet"
    await service.rows("DELETE FROM scoring_queue WHERE item_id = (SELECT min(item_id::text)::uuid FROM scoring_queue)")
    assert await progress(service) == {"is_complete": False, "done": 1, "total": 3}
    await service.score()
    assert await progress(service) == COMPLETE


async def test_what_an_import_has_changed_waits_for_its_end(service: Any, catalog: Any) -> None:
    with catalog.importing():
        catalog.requirement("The door is locked")
        catalog.test_case("Lock the door")
        await service.follow()
        assert await progress(service) == {"is_complete": False, "done": 0, "total": 2}
    assert (await progress(service))["is_complete"] is False
    await service.score()
    assert await progress(service) == COMPLETE
    assert len(await service.suggestions()) == 1


async def test_a_run_counts_all_items(service: Any, catalog: Any) -> None:
    await service.pair()
    await service.http.post("/suggestions/generate", headers={"Prefer": "respond-async"})
    assert await progress(service) == {"is_complete": False, "done": 0, "total": 2}
    while await service.runs.work_off_next():
        pass
    assert await progress(service) == COMPLETE


async def test_what_concerns_no_text_or_another_project_is_not_waited_for(service: Any, catalog: Any) -> None:
    suggestion = await service.pair()
    catalog.link(suggestion["requirement_id"], suggestion["test_case_id"])
    with projects.within("DOOR"):
        catalog.requirement("The door is locked")
    assert await progress(service) == COMPLETE


async def test_without_news_of_catalog_it_is_not_called_complete(service: Any, catalog: Any) -> None:
    catalog.answers_with = 503
    assert (await progress(service))["is_complete"] is False

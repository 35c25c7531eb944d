"""After an update that has changed what scores mean: what is pending is scored anew, once, in place."""

from typing import Any

import pytest

from suggestion_service.scoring.new_scale import NewScale

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall"
TOLD = ("similarity_score", "suggestion_reason", "suggestion_metadata")


async def as_an_older_version_left_it(service: Any) -> None:
    """Other terms, other scores, and the note of the migration."""
    await service.rows("UPDATE items SET terms = jsonb_build_object('older', 1)")
    await service.rows(
        "UPDATE suggestions SET similarity_score = 0.35, suggestion_reason = 'older', suggestion_metadata = '{}'"
    )
    await service.rows("INSERT INTO outdated_scales DEFAULT VALUES")
    service.start()


async def bring_over(service: Any) -> None:
    await NewScale(service.database, service.scales).bring_over()
    while await service.runs.work_off_next():
        pass


async def test_pending_suggestions_get_new_scores_in_place_and_one_event_tells_it(service: Any) -> None:
    for text in (PUMP, LAMP):
        await service.pair(text)
    await service.rescore_sweep.sweep()
    before = await service.suggestions()
    await as_an_older_version_left_it(service)
    await bring_over(service)
    after = {one["id"]: one for one in await service.suggestions(status="pending")}
    assert [after[one["id"]]["created_at"] for one in before] == [one["created_at"] for one in before]
    assert [[after[one["id"]][name] for name in TOLD] for one in before] == [
        [one[name] for name in TOLD] for one in before
    ]
    (event,) = await service.events("suggestion.run.finished")
    assert (event["actor"], event["data"]["pending_only"], event["data"]["threshold"]) == ("system", True, 0.3)
    assert [event["data"][f"suggestions_{count}"] for count in ("created", "updated", "withdrawn")] == [0, 2, 0]
    await bring_over(service)
    assert len(await service.events("suggestion.run.finished")) == 1, "it happens once"


async def test_what_is_below_the_threshold_is_withdrawn_and_nothing_else_is_suggested(
    service: Any, catalog: Any
) -> None:
    await service.pair(PUMP)
    pair = await service.pair(LAMP)
    await service.rows("DELETE FROM suggestions WHERE id <> %s", pair["id"])
    await as_an_older_version_left_it(service)
    await service.rows(
        'UPDATE items SET text = \'{"title": "gate", "description": "gate"}\' WHERE id = %s', pair["test_case_id"]
    )
    await bring_over(service)
    assert await service.suggestions(status="pending") == []
    (withdrawn,) = await service.suggestions(status="expired")
    assert (withdrawn["id"], "finds nothing in common" in withdrawn["feedback"]) == (pair["id"], True)
    # What is missing comes when changes have come to rest.
    await service.rescore_sweep.sweep()
    assert len(await service.suggestions(status="pending")) == 1


@pytest.mark.parametrize("how", ["reject", "accept"])
async def test_what_was_reviewed_keeps_its_score(service: Any, how: str) -> None:
    suggestion = await service.pair(PUMP)
    await service.post(f"/suggestions/{suggestion['id']}/{how}")
    await as_an_older_version_left_it(service)
    await bring_over(service)
    assert (await service.read(f"/suggestions/{suggestion['id']}"))["similarity_score"] == 0.35
    assert (await service.read("/suggestions/runs"))["items"] == [], "nothing was pending"


async def test_the_scale_stays_that_of_the_run_that_somebody_asked_for(service: Any) -> None:
    await service.pair(PUMP)
    await service.generate(algorithm="keyword", threshold=0.2)
    await as_an_older_version_left_it(service)
    await bring_over(service)
    (run, _) = (await service.read("/suggestions/runs"))["items"]
    assert (run["pending_only"], run["algorithm"], run["threshold"]) == (True, "keyword", 0.2)
    async with service.database.connection() as connection:
        scale = await service.scales.current(connection)
    assert (scale.algorithm, scale.left_out_below) == ("keyword", 0.2)


async def test_who_is_stopped_goes_on_where_it_was(service: Any, catalog: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("suggestion_service.scoring.new_scale._AT_ONCE", 2)
    for text in (PUMP, LAMP):
        await service.pair(text)
    await as_an_older_version_left_it(service)
    await service.rows("UPDATE outdated_scales SET position = (SELECT id FROM items ORDER BY id OFFSET 1 LIMIT 1)")
    await bring_over(service)
    rows = await service.rows("SELECT terms ? 'older' AS old FROM items ORDER BY id")
    assert [row["old"] for row in rows] == [True, True, False, False]

"""What an import changes is in the copy at once, and is scored together at its end."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from suggestion_service.items import imports


@pytest.fixture
async def service(serve: Callable[..., Awaitable[Any]]) -> Any:
    return await serve()


async def queued(service: Any) -> set[Any]:
    return {row["item_id"] for row in await service.rows("SELECT item_id FROM scoring_queue")}


async def test_the_copy_follows_and_nothing_is_scored_before_the_end(service: Any, catalog: Any) -> None:
    with catalog.importing():
        catalog.requirement("the pump stops when the tank is full")
        catalog.test_case("the pump stops when the tank is full")
        await service.score()
        assert len(await service.rows("SELECT FROM items")) == 2
        assert await queued(service) == set()
    await service.follow()
    assert await queued(service) == set(catalog.items)
    await service.score()
    assert len(await service.suggestions(status="pending")) == 1
    assert await service.rows("SELECT FROM import_items") == []


async def test_what_says_nothing_new_is_not_scored(service: Any, catalog: Any) -> None:
    kept, changed = catalog.requirement("the pump stops"), catalog.requirement("the valve opens")
    await service.score()
    with catalog.importing():
        catalog.change(kept, status="approved")
        catalog.change(changed, title="the valve closes")
        gone = catalog.requirement("the tank leaks")
        catalog.delete(gone)
    await service.follow()
    assert await queued(service) == {changed}


async def test_without_suggestions_nothing_is_scored_nor_swept(service: Any, catalog: Any) -> None:
    await service.rescore_sweep.sweep()
    with catalog.importing(suggest=False):
        catalog.requirement("the pump stops when the tank is full")
        catalog.test_case("the pump stops when the tank is full")
        await service.follow()
        assert not await service.rescore_sweep.sweep_if_due()
    await service.follow()
    assert await queued(service) == set()
    assert await service.rescore_sweep.sweep_if_due()
    assert await service.suggestions(status="pending") == []


async def test_much_is_scored_by_one_run_of_who_imported(
    service: Any, catalog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_MOST_QUEUED", 3)
    await service.generate(algorithm="keyword", threshold=0.5)
    with catalog.importing():
        for text in ("the pump stops when the tank is full", "doors close before departure"):
            catalog.requirement(text)
            catalog.test_case(text)
    await service.follow()
    assert await queued(service) == set()
    (run, _) = (await service.read("/suggestions/runs"))["items"]
    assert (run["status"], run["algorithm"], run["threshold"]) == ("queued", "keyword", 0.5)
    assert run["created_by"] == "author@example.test"
    await service.runs.work_off_next()
    assert len(await service.suggestions(status="pending")) == 2


async def test_where_the_background_makes_no_suggestions_an_import_makes_none(
    serve: Callable[..., Awaitable[Any]], catalog: Any
) -> None:
    service = await serve(auto_suggestions_enabled=False)
    with catalog.importing():
        catalog.requirement("the pump stops when the tank is full")
    await service.follow()
    assert await queued(service) == set()
    assert await service.rows("SELECT FROM import_items") == []

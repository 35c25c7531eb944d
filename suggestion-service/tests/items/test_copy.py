"""The copy follows catalog's feed, in whatever order and however often its events come."""

import random
from collections.abc import Sequence
from typing import Any

import pytest


async def copy_of(service: Any) -> list[dict[str, Any]]:
    rows = await service.rows(
        "SELECT id, side, external_id, title, module, tags, priority, text, terms, sequence, deleted"
        " FROM items WHERE NOT deleted ORDER BY id"
    )
    links = await service.rows("SELECT link_id FROM linked_pairs WHERE NOT deleted ORDER BY link_id")
    tombstones = await service.rows("SELECT id FROM items WHERE deleted ORDER BY id")
    return [*rows, *links, *tombstones]


def a_history(catalog: Any) -> Sequence[bytes]:
    first, second = catalog.requirement("The door closes"), catalog.requirement("The lamp burns", tags=["a"])
    test = catalog.test_case("Close the door", steps={"1": "push", "2": "look"}, preconditions="it is open")
    gone = catalog.test_case("Paint the door")
    kept, cut = catalog.link(first, test), catalog.link(second, gone)
    catalog.change(first, title="The door closes slowly")
    catalog.change(first, module="doors")
    catalog.change(second, status="approved", external_id="REQ-2")
    catalog.unlink(cut)
    catalog.delete(gone)
    catalog.change(test, steps={"1": "pull"})
    assert kept
    return list(catalog.feed)


@pytest.mark.parametrize("seed", range(5))
async def test_shuffled_and_repeated_events_make_the_same_copy(serve: Any, catalog: Any, seed: int) -> None:
    history = a_history(catalog)
    in_order, shuffled = await serve(), await serve()
    await in_order.inbox.receive(history)

    chance = random.Random(seed)
    events = [*history, *chance.sample(list(history), 6)]
    chance.shuffle(events)
    while events:
        size = chance.randint(1, 5)
        await shuffled.inbox.receive(events[:size])
        events = events[size:]

    assert await copy_of(shuffled) == await copy_of(in_order)
    assert await shuffled.rows("SELECT * FROM inbox_failures") == []


async def test_a_late_event_brings_no_deleted_item_back(service: Any, catalog: Any) -> None:
    item = catalog.requirement("The door closes")
    catalog.change(item, title="The door opens")
    catalog.delete(item)
    created, updated, deleted = catalog.feed
    for event in (deleted, updated, created):
        await service.inbox.receive([event])
    assert await service.rows("SELECT id, deleted FROM items") == [{"id": item, "deleted": True}]
    assert await service.rows("SELECT * FROM scoring_queue") == []


async def test_what_a_restore_brings_back_is_suggested_and_linked_again(service: Any, catalog: Any) -> None:
    text = "the pump stops when the tank is full"
    requirement, test_case = catalog.requirement(text), catalog.test_case(text)
    await service.score()  # the items are in memory from now on
    link = catalog.link(requirement, test_case)
    catalog.unlink(link)
    catalog.delete(requirement)
    await service.score()
    assert await service.rows("SELECT id FROM items WHERE deleted") == [{"id": requirement}]
    with catalog.importing():
        catalog.requirement(text, id=requirement)
    await service.score()
    assert await service.rows("SELECT id FROM items WHERE deleted") == []
    assert [found["status"] for found in await service.suggestions()] == ["pending"]
    catalog.link(requirement, test_case, id=link["id"])
    await service.follow()
    assert await service.rows("SELECT link_id FROM linked_pairs WHERE NOT deleted") == [{"link_id": link["id"]}]
    assert await service.suggestions(status="pending") == []


async def test_a_late_link_event_links_no_pair_that_was_unlinked(service: Any, catalog: Any) -> None:
    requirement, test_case = catalog.requirement("The door closes"), catalog.test_case("Close the door")
    catalog.unlink(catalog.link(requirement, test_case))
    await service.inbox.receive(catalog.feed[-1:])
    await service.score()
    (found,) = await service.suggestions()
    assert found["status"] == "pending"


async def test_an_event_that_changes_no_text_keeps_the_place_of_the_last_that_did(service: Any, catalog: Any) -> None:
    item = catalog.requirement("The door closes")
    catalog.change(item, description="It closes slowly")
    catalog.change(item, status="approved")
    catalog.change(item, priority="high", tags=["doors"])
    for event in catalog.feed:
        await service.inbox.receive([event])
    assert await service.rows("SELECT text_sequence, sequence FROM items") == [{"text_sequence": 2, "sequence": 4}]


async def test_deleting_an_item_takes_its_suggestions_with_it(service: Any, catalog: Any) -> None:
    suggestion = await service.pair()
    other = await service.pair("the lamp burns at night")
    catalog.delete(next(item for item in catalog.items if str(item) == suggestion["test_case_id"]))
    await service.score()
    assert [found["id"] for found in await service.suggestions()] == [other["id"]]
    await service.generate()
    assert [found["id"] for found in await service.suggestions()] == [other["id"]]

"""Variants of a test case are one entry of the queue, reviewed as one with an answer each."""

from typing import Any

import pytest

PUMP = "the pump stops when the tank is full"
LAMP = "a lamp burns in the hall at night"
PAGES = "Open the book and check that each page is laid out as the package document says"


@pytest.fixture
async def queue(service: Any, catalog: Any) -> dict[str, dict[str, Any]]:
    """Two requirements, one with four variants and two test cases more, by the titles of the test cases."""
    catalog.requirement(PUMP, external_id="REQ-1")
    catalog.requirement(LAMP)
    for browser in ("Chrome", "Firefox", "Safari", "Edge"):
        catalog.test_case(f"{PUMP} ({browser})", f"{PUMP}, and say so in {browser}", module=browser)
    catalog.test_case(f"{PUMP} at once", "and water leaves seven green cellars")
    catalog.test_case(f"{PUMP} slowly", "while nine dogs bark")
    catalog.test_case(LAMP)
    await service.generate(threshold=0)
    return {one["test_case"]["title"]: one for one in await service.suggestions(sort="score:desc") if of_pump(one)}


def of_pump(suggestion: dict[str, Any]) -> bool:
    return bool(suggestion["requirement"]["title"] == PUMP)


async def entries(service: Any, **query: Any) -> dict[str, Any]:
    return dict(await service.read("/suggestions", sort="score:desc", variants="together", **query))


async def test_variants_are_one_entry_and_the_counts_say_both(service: Any, queue: Any) -> None:
    together = await entries(service, status="pending")
    everything = await service.read("/suggestions", status="pending")
    assert together["total_of_all"] == everything["total"] == everything["total_of_all"]
    assert together["total"] == len(together["items"]) == everything["total"] - 3
    (entry,) = [one for one in together["items"] if one["variants"]]
    variants = [one for title, one in queue.items() if "(" in title]
    assert entry["id"] == variants[0]["id"], "the best stands for all"
    assert entry["variants"] == [
        {name: one[name] for name in ("id", "similarity_score", "band", "test_case")} for one in variants[1:]
    ]
    assert {one["suggestion_metadata"]["group"] for one in variants} == {f"{PUMP} (…)"}
    assert "group" not in queue[f"{PUMP} slowly"]["suggestion_metadata"]
    assert "variants" not in everything["items"][0]


async def test_filters_find_variants_by_themselves(service: Any, queue: Any) -> None:
    found = await entries(service, module="Firefox,Edge")
    (entry,) = found["items"]
    modules = {entry["test_case"]["module"], *(one["test_case"]["module"] for one in entry["variants"])}
    assert (found["total"], found["total_of_all"], modules) == (1, 2, {"Firefox", "Edge"})


async def test_the_best_of_a_requirement_are_counted_by_entries(service: Any, queue: Any) -> None:
    best = await entries(service, per_requirement=2)
    of_requirement = [one for one in best["items"] if of_pump(one)]
    whole = [one for one in (await entries(service))["items"] if of_pump(one)]
    assert [one["id"] for one in of_requirement] == [one["id"] for one in whole[:2]]
    assert {one["more_of_requirement"] for one in of_requirement} == {len(whole) - 2}


async def test_pages_of_entries_give_each_once(service: Any, queue: Any) -> None:
    whole = await entries(service)
    seen, after = list[str](), {}
    while True:
        page = await entries(service, limit=1, **after)
        seen += [one["id"] for one in page["items"]]
        if page["next_after"] is None:
            break
        after = {"after": page["next_after"]}
    assert seen == [one["id"] for one in whole["items"]]


async def test_a_group_is_accepted_as_one_with_an_answer_each_and_undone_as_one(service: Any, queue: Any) -> None:
    (entry,) = [one for one in (await entries(service))["items"] if one["variants"]]
    ids = [entry["id"], *(one["id"] for one in entry["variants"])]
    answer = await service.post("/suggestions/bulk-review", {"action": "accept", "ids": ids})
    assert [(one["id"], one["status"]) for one in answer["items"]] == [(one, "accepted") for one in ids]
    assert len({one["link_id"] for one in answer["items"]}) == 4
    assert [one["id"] for one in (await entries(service, status="accepted"))["items"]] == [entry["id"]]
    await service.post(f"/suggestions/reviews/{answer['review_id']}/undo")
    (again,) = [one for one in (await entries(service, status="pending"))["items"] if one["variants"]]
    assert again["variants"] == entry["variants"]


async def test_who_takes_one_out_leaves_the_others_together(service: Any, queue: Any) -> None:
    (entry,) = [one for one in (await entries(service))["items"] if one["variants"]]
    await service.post(f"/suggestions/{entry['id']}/reject")
    (later,) = [one for one in (await entries(service, status="pending"))["items"] if one["variants"]]
    assert [later["id"], *(one["id"] for one in later["variants"])] == [one["id"] for one in entry["variants"]]


async def test_what_comes_or_changes_later_finds_its_group(service: Any, catalog: Any, queue: Any) -> None:
    new = catalog.test_case(f"{PUMP} (Opera)", f"{PUMP}, and say so in Opera")
    await service.score()
    (entry,) = [one for one in (await entries(service))["items"] if one["variants"]]
    assert str(new) in {entry["test_case"]["id"], *(one["test_case"]["id"] for one in entry["variants"])}
    catalog.change(new, description=f"{PUMP}, then feed two zebras and sing them old songs until they sleep")
    await service.score()
    (entry,) = [one for one in (await entries(service))["items"] if one["variants"]]
    assert len(entry["variants"]) == 3
    assert str(new) not in {entry["test_case"]["id"], *(one["test_case"]["id"] for one in entry["variants"])}


async def test_another_word_than_together_is_refused(service: Any) -> None:
    response = await service.http.get("/suggestions?variants=apart")
    assert response.json()["errors"][0]["pointer"] == "/query/variants"

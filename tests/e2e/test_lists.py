"""Lists of requirements and test cases: filters, sorting, and pages that neither repeat nor skip."""

from typing import Any
from urllib.parse import urljoin

import pytest

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import Traceline, ok, problem

pytestmark = in_one_process

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


def create(reviewer: Traceline, path: str, **fields: Any) -> dict[str, Any]:
    if path == "/requirements":
        return reviewer.create_requirement(**fields)
    return reviewer.create_test_case(**fields)


def titles(reviewer: Traceline, path: str, **params: Any) -> list[str]:
    return [item["title"] for item in reviewer.items(path, **params)]


@BOTH
def test_a_list_has_items_total_skip_and_limit(viewer: Traceline, path: str) -> None:
    page = viewer.read(path)
    assert set(page) >= {"items", "total", "skip", "limit"}
    assert (page["skip"], page["limit"]) == (0, 50)
    page = viewer.read(path, skip=3, limit=2)
    assert (page["skip"], page["limit"]) == (3, 2)


@BOTH
def test_an_item_in_a_list_is_the_item_itself(reviewer: Traceline, path: str) -> None:
    module = texts.word()
    made = create(reviewer, path, module=module, tags=["a"])
    assert reviewer.items(path, module=module) == [ok(reviewer.get(f"{path}/{made['id']}"))]


@BOTH
def test_the_newest_come_first(reviewer: Traceline, path: str) -> None:
    module = texts.word()
    made = [create(reviewer, path, module=module)["id"] for _ in range(3)]
    assert [item["id"] for item in reviewer.items(path, module=module)] == made[::-1]


@BOTH
def test_pages_neither_repeat_nor_skip_where_the_sort_key_is_the_same(reviewer: Traceline, path: str) -> None:
    module = texts.word()
    made = {create(reviewer, path, module=module, title="The same")["id"] for _ in range(7)}
    for sort in ("title:asc", "priority:desc", "created_at:asc"):
        pages = list(reviewer.pages(path, module=module, sort=sort, limit=2))
        assert [len(page["items"]) for page in pages] == [2, 2, 2, 1]
        assert {page["total"] for page in pages} == {7}
        assert {item["id"] for page in pages for item in page["items"]} == made


@BOTH
def test_the_link_header_leads_to_the_next_and_the_previous_page(reviewer: Traceline, path: str) -> None:
    module = texts.word()
    for _ in range(5):
        create(reviewer, path, module=module)
    first = reviewer.get(path, params={"module": module, "limit": 2})
    assert "prev" not in first.links
    second = reviewer.get(urljoin(str(first.url), first.links["next"]["url"]))
    assert (ok(second)["skip"], ok(second)["limit"]) == (2, 2)
    back = reviewer.get(urljoin(str(second.url), second.links["prev"]["url"]))
    assert ok(back) == ok(first)
    last = reviewer.get(urljoin(str(second.url), second.links["next"]["url"]))
    assert len(ok(last)["items"]) == 1
    assert "next" not in last.links
    beyond = ok(reviewer.get(path, params={"module": module, "skip": 50}))
    assert (beyond["items"], beyond["total"]) == ([], 5)


@BOTH
@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": 501}, {"limit": -1}, {"skip": -1}])
def test_a_page_out_of_range_is_refused(viewer: Traceline, path: str, params: dict[str, int]) -> None:
    problem(viewer.get(path, params=params), 422, field=next(iter(params)))


@BOTH
def test_a_page_may_have_500_items(viewer: Traceline, path: str) -> None:
    assert viewer.read(path, limit=500)["limit"] == 500


@BOTH
def test_lists_are_sorted_by_what_is_asked(reviewer: Traceline, path: str) -> None:
    module = texts.word()
    made = [
        create(reviewer, path, module=module, title=title, priority=priority, external_id=f"{module}-{number}")
        for number, title, priority in ((2, "alpha", "low"), (3, "charlie", "critical"), (1, "bravo", "high"))
    ]
    ok(reviewer.patch(f"{path}/{made[0]['id']}", json={"status": "draft", "module": module, "tags": ["x"]}))

    def order(sort: str) -> list[str]:
        return titles(reviewer, path, module=module, sort=sort)

    assert order("title:asc") == ["alpha", "bravo", "charlie"]
    assert order("title:desc") == ["charlie", "bravo", "alpha"]
    assert order("created_at:asc") == ["alpha", "charlie", "bravo"]
    assert order("updated_at:asc") == ["charlie", "bravo", "alpha"]
    assert order("external_id:desc") == ["charlie", "alpha", "bravo"]
    assert order("priority:desc") in (["charlie", "bravo", "alpha"], ["alpha", "bravo", "charlie"])
    assert order("priority:asc") == order("priority:desc")[::-1]


@BOTH
@pytest.mark.parametrize("sort", ["colour:asc", "title:sideways", "title;drop", "description:asc", ":"])
def test_an_unknown_sort_is_refused(viewer: Traceline, path: str, sort: str) -> None:
    problem(viewer.get(path, params={"sort": sort}), 422, field="sort")


@BOTH
def test_filters_take_alternatives_and_exclusions(reviewer: Traceline, path: str) -> None:
    module = texts.word()
    for priority, status in (("low", "draft"), ("high", "draft"), ("critical", "draft")):
        create(reviewer, path, module=module, title=priority, priority=priority, status=status)

    def found(**filters: str) -> set[str]:
        return set(titles(reviewer, path, module=module, **filters))

    assert found(priority="low") == {"low"}
    assert found(priority="low,critical") == {"low", "critical"}
    assert found(priority="!low") == {"high", "critical"}
    assert found(priority="!low,!high") == {"critical"}
    assert found(priority="low", status="draft") == {"low"}
    assert found(status="!draft") == set()


@BOTH
@pytest.mark.parametrize("name", ["type", "priority", "status"])
@pytest.mark.parametrize("value", ["purple", "!purple", "DRAFT", "high,purple"])
def test_an_unknown_value_of_a_filter_is_refused(viewer: Traceline, path: str, name: str, value: str) -> None:
    problem(viewer.get(path, params={name: value}), 422, field=name)


@BOTH
def test_items_are_found_by_module_tag_and_creator(reviewer: Traceline, path: str) -> None:
    word = texts.word()
    create(reviewer, path, title="one", module=word, tags=[f"{word}-a", f"{word}-b"], created_by=word)
    create(reviewer, path, title="two", module=f"{word}2", tags=[f"{word}-b"], created_by=f"{word}2")
    assert titles(reviewer, path, module=word) == ["one"]
    assert set(titles(reviewer, path, module=f"{word},{word}2")) == {"one", "two"}
    assert titles(reviewer, path, tag=f"{word}-a") == ["one"]
    assert set(titles(reviewer, path, tag=f"{word}-b")) == {"one", "two"}
    assert titles(reviewer, path, tag=f"{word}-b", module=f"!{word}") == ["two"]
    assert titles(reviewer, path, module=f"{word}%") == []


def test_requirements_are_found_by_creator_and_external_id(reviewer: Traceline) -> None:
    word = texts.word()
    reviewer.create_requirement(title="one", external_id=f"{word}-1", created_by=word)
    reviewer.create_requirement(title="two", external_id=f"{word}-2", created_by=word)
    assert titles(reviewer, "/requirements", external_id=f"{word}-2") == ["two"]
    assert set(titles(reviewer, "/requirements", created_by=word)) == {"one", "two"}


@pytest.mark.parametrize("field", ["title", "description", "external_id", "tags"])
@BOTH
def test_the_search_looks_at_title_description_external_id_and_tags(reviewer: Traceline, path: str, field: str) -> None:
    word = texts.word()
    text = [word] if field == "tags" else word if field == "external_id" else f"The {word} of the house"
    made = create(reviewer, path, **{field: text})
    create(reviewer, path)
    assert [item["id"] for item in reviewer.items(path, search=word)] == [made["id"]]


@BOTH
def test_the_search_finds_other_forms_of_a_word(reviewer: Traceline, path: str) -> None:
    word = texts.word()
    create(reviewer, path, title=f"{word} doors are closing")
    assert titles(reviewer, path, search=f"{word} close door") == [f"{word} doors are closing"]


@BOTH
@pytest.mark.parametrize("search", ["'", '"', "(", "a & | !", "\\", "%", "a:*b", "<->", "''; --", "🚪"])
def test_the_search_takes_any_text(viewer: Traceline, path: str, search: str) -> None:
    viewer.read(path, search=search)


def test_a_search_can_be_sorted_by_relevance(reviewer: Traceline) -> None:
    word = texts.word()
    reviewer.create_requirement(title="Last", description=f"{texts.words(40)} {word}")
    reviewer.create_requirement(title=f"First {word}", description=f"{word} {word}")
    found = titles(reviewer, "/requirements", search=word, sort="relevance:desc")
    assert found == [f"First {word}", "Last"]
    problem(reviewer.get("/requirements", params={"sort": "relevance:desc"}), 422, field="sort")


def test_requirements_are_found_by_their_coverage(reviewer: Traceline) -> None:
    module = texts.word()
    test_case = reviewer.create_test_case(module=module)
    made = {
        title: reviewer.create_requirement(title=title, module=module)["id"] for title in ("none", "covered", "suspect")
    }
    reviewer.create_link(made["covered"], test_case["id"])
    reviewer.create_link(made["suspect"], test_case["id"])
    ok(reviewer.patch(f"/requirements/{made['suspect']}", json={"description": "quite another text"}))

    def found(coverage: str) -> set[str]:
        return set(titles(reviewer, "/requirements", module=module, coverage=coverage))

    assert found("none") == {"none"}
    assert found("suspect") == {"suspect"}
    assert "covered" in found("covered")
    assert "none" not in found("covered")
    problem(reviewer.get("/requirements", params={"coverage": "half"}), 422, field="coverage")


def test_test_cases_are_found_by_automation_and_by_being_linked(reviewer: Traceline) -> None:
    module = texts.word()
    linked = reviewer.create_test_case(title="linked", module=module, automation_status="automated")
    reviewer.create_test_case(title="orphan", module=module)
    reviewer.create_link(reviewer.create_requirement()["id"], linked["id"])

    def found(**filters: str) -> list[str]:
        return titles(reviewer, "/test-cases", module=module, **filters)

    assert found(linked="true") == ["linked"]
    assert found(linked="false") == ["orphan"]
    assert found(automation_status="automated") == ["linked"]
    assert found(automation_status="!automated") == ["orphan"]
    problem(reviewer.get("/test-cases", params={"linked": "perhaps"}), 422, field="linked")
    problem(reviewer.get("/test-cases", params={"automation_status": "robot"}), 422, field="automation_status")

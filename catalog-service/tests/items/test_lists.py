"""Lists of requirements and test cases: filters, search, sorting, pages."""

from typing import Any

import pytest

from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


async def titles(catalog: Any, path: str, **params: Any) -> list[str]:
    return [item["title"] for item in (await catalog.read(path, **params))["items"]]


def untagged(page: Any) -> list[dict[str, Any]]:
    """Return the rows of a page as they are read one by one."""
    return [{name: value for name, value in row.items() if name != "etag"} for row in page["items"]]


@BOTH
async def test_the_newest_come_first_in_pages_that_lead_to_one_another(catalog: Any, path: str) -> None:
    module = catalog.word()
    made = [(await catalog.create(path, module=module))["id"] for _ in range(5)][::-1]
    first = await catalog.get(path, module=module, limit=2)
    after = first.json()["next_after"]
    assert first.json() | {"items": []} == {"items": [], "total": 5, "skip": 0, "limit": 2, "next_after": after}
    assert [item["id"] for item in first.json()["items"]] == made[:2]
    assert "prev" not in first.links
    assert f"module={module}&after={after}&limit=2" in first.links["next"]["url"]
    second = await catalog.get(path, module=module, limit=2, skip=2)
    assert [item["id"] for item in second.json()["items"]] == made[2:4]
    assert "skip=4&limit=2" in second.links["next"]["url"]
    assert "skip=0&limit=2" in second.links["prev"]["url"]
    beyond = await catalog.read(path, module=module, skip=2**31 - 1)
    assert (beyond["items"], beyond["total"]) == ([], 5)
    assert (await catalog.read(path))["limit"] == 50


@BOTH
async def test_pages_neither_repeat_nor_skip_where_the_sort_key_is_the_same(catalog: Any, path: str) -> None:
    module = catalog.word()
    made = {(await catalog.create(path, module=module))["id"] for _ in range(7)}
    for sort in ("title", "title:desc", "priority:desc", "external_id:asc", "updated_at:desc"):
        pages = [await catalog.read(path, module=module, sort=sort, limit=2, skip=skip) for skip in range(0, 8, 2)]
        found = [item["id"] for page in pages for item in page["items"]]
        assert len(found) == 7
        assert set(found) == made


@BOTH
async def test_a_list_is_sorted_by_what_is_asked(catalog: Any, path: str) -> None:
    module = catalog.word()
    made = []
    for number, title, priority in ((2, "alpha", "low"), (3, "Charlie", "critical"), (1, "bravo", "high")):
        identifier = None if number == 3 else f"{module}-{number}"
        made.append(await catalog.create(path, module=module, title=title, priority=priority, external_id=identifier))
    await catalog.patch(f"{path}/{made[0]['id']}", {"tags": ["x"]})

    async def order(sort: str) -> list[str]:
        return await titles(catalog, path, module=module, sort=sort)

    assert await order("title") == ["alpha", "bravo", "Charlie"]
    assert await order("title:desc") == ["Charlie", "bravo", "alpha"]
    assert await order("created_at:asc") == ["alpha", "Charlie", "bravo"]
    assert await order("updated_at:asc") == ["Charlie", "bravo", "alpha"]
    assert await order("priority:desc") == ["Charlie", "bravo", "alpha"]
    assert await order("priority:asc") == ["alpha", "bravo", "Charlie"]
    assert await order("external_id:asc") == ["bravo", "alpha", "Charlie"]
    assert await order("external_id:desc") == ["alpha", "bravo", "Charlie"]


@BOTH
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "purple"),
        ("priority", "high,purple"),
        ("status", "!purple"),
        ("status", "DRAFT"),
        ("status", ""),
        ("sort", "colour"),
        ("sort", "title:sideways"),
        ("sort", ":"),
        ("sort", "relevance"),
        ("skip", "-1"),
        ("skip", "99999999999999999999"),
        ("limit", "0"),
        ("limit", "501"),
        ("limit", "x"),
        ("search", "x" * 501),
        ("search", "a\0b"),
    ],
)
async def test_an_unknown_value_of_the_query_is_refused(catalog: Any, path: str, name: str, value: str) -> None:
    problem(await catalog.get(path, **{name: value}), 422, field=f"/query/{name}")


async def test_what_only_one_kind_knows_is_checked_too(catalog: Any) -> None:
    problem(await catalog.get("/requirements", coverage="half"), 422, field="/query/coverage")
    problem(await catalog.get("/test-cases", linked="perhaps"), 422, field="/query/linked")
    problem(await catalog.get("/test-cases", automation_status="robot"), 422, field="/query/automation_status")


@BOTH
async def test_filters_take_alternatives_and_exclusions(catalog: Any, path: str) -> None:
    module = catalog.word()
    for priority in ("low", "high", "critical"):
        await catalog.create(path, module=module, title=priority, priority=priority)

    async def found(**filters: str) -> set[str]:
        return set(await titles(catalog, path, module=module, **filters))

    assert await found(priority="low") == {"low"}
    assert await found(priority="low, critical") == {"low", "critical"}
    assert await found(priority="!low") == {"high", "critical"}
    assert await found(priority="!low,!high") == {"critical"}
    assert await found(priority="low,high,!high") == {"low"}
    assert await found(priority="low", type="functional", status="draft") == {"low"}
    assert await found(status="!draft") == set()


@BOTH
async def test_texts_are_filtered_exactly_and_none_is_not_excluded(catalog: Any, path: str) -> None:
    word = catalog.word()
    one = {"module": word, "tags": [f"{word}a", f"{word}b"], "external_id": f"{word}-1"}
    await catalog.create(path, title="one", created_by=word, **one)
    await catalog.create(path, title="two", created_by=word, module=f"{word}2", tags=[f"{word}b"])
    await catalog.create(path, title="bare", created_by=word)

    async def found(**filters: str) -> set[str]:
        return set(await titles(catalog, path, created_by=word, **filters))

    assert await found() == {"one", "two", "bare"}
    assert await found(module=word) == {"one"}
    assert await found(module=f"{word},{word}2") == {"one", "two"}
    assert await found(module=f"!{word}") == {"two", "bare"}
    assert await found(module=f"{word}%") == set()
    assert await found(tag=f"{word}a") == {"one"}
    assert await found(tag=f"{word}a,{word}b") == {"one", "two"}
    assert await found(tag=f"{word}b,!{word}a") == {"two"}
    assert await found(tag=f"!{word}b") == {"bare"}
    assert await found(external_id=f"{word}-1") == {"one"}
    assert await found(external_id=f"!{word}-1") == {"two", "bare"}


@BOTH
@pytest.mark.parametrize("field", ["title", "description", "external_id", "tags"])
async def test_the_search_looks_at_title_description_external_id_and_tags(catalog: Any, path: str, field: str) -> None:
    word = catalog.word()
    made = await catalog.create(path, **{field: [word] if field == "tags" else word})
    assert [item["id"] for item in (await catalog.read(path, search=word))["items"]] == [made["id"]]


@BOTH
async def test_the_search_knows_forms_of_words_phrases_exclusions_and_beginnings_of_ids(
    catalog: Any, path: str
) -> None:
    word = catalog.word()
    await catalog.create(path, title="one", description=f"{word} doors are closing", external_id=f"Ä{word}-12")
    await catalog.create(path, title="two", description=f"{word} closing of a door, slowly")
    assert set(await titles(catalog, path, search=f"{word} close door")) == {"one", "two"}
    assert await titles(catalog, path, search=f'{word} "doors are closing"') == ["one"]
    assert await titles(catalog, path, search=f"{word} -slowly") == ["one"]
    assert await titles(catalog, path, search=f"Ä{word.upper()}-1") == ["one"]
    assert await titles(catalog, path, search=f"{word} nowhere") == []


@BOTH
@pytest.mark.parametrize("search", ["'", '"', "(", "a & | !", "\\", "%", "a:*b", "<->", "''; --", "🚪", "the"])
async def test_the_search_takes_any_text(catalog: Any, path: str, search: str) -> None:
    await catalog.read(path, search=search, sort="relevance:desc")


async def test_a_blank_search_is_none(catalog: Any) -> None:
    module = catalog.word()
    await catalog.requirement(module=module)
    assert (await catalog.read("/requirements", module=module, search=" "))["total"] == 1


@BOTH
async def test_a_search_can_be_sorted_by_relevance(catalog: Any, path: str) -> None:
    word = catalog.word()
    await catalog.create(path, title="body", description=f"Many other words and {word}")
    await catalog.create(path, title=f"title {word}", description="Something else")
    await catalog.create(path, title="id", external_id=f"{word}-7", description="Something else")
    found = await titles(catalog, path, search=word, sort="relevance:desc")
    assert found == ["id", f"title {word}", "body"]
    assert await titles(catalog, path, search=word, sort="relevance:asc") == found[::-1]


@BOTH
@pytest.mark.parametrize("search", [{}, {"search": " "}])
async def test_sorting_by_relevance_needs_a_search(catalog: Any, path: str, search: dict[str, str]) -> None:
    for sort in ("relevance", "relevance:asc"):
        (error,) = problem(await catalog.get(path, sort=sort, **search), 422)["errors"]
        assert (error["pointer"], error["code"]) == ("/query/sort", "no_search")
        assert error["message"].startswith("Relevance is to what is searched for: send `search`, too, or sort by crea")


async def test_requirements_are_found_by_their_coverage(catalog: Any) -> None:
    module = catalog.word()
    test_case, moving = await catalog.test_case(), await catalog.test_case()
    made = {
        title: await catalog.requirement(title=title, module=module)
        for title in ("none", "covered", "newer", "test newer")
    }
    await catalog.link(made["covered"], test_case)
    await catalog.link(made["newer"], test_case)
    await catalog.link(made["test newer"], moving)
    await catalog.patch(f"/requirements/{made['newer']['id']}", {"description": "another text"})
    await catalog.patch(f"/test-cases/{moving['id']}", {"description": "another text"})

    async def found(coverage: str) -> set[str]:
        return set(await titles(catalog, "/requirements", module=module, coverage=coverage))

    assert await found("none") == {"none"}
    assert await found("covered") == {"covered", "newer", "test newer"}
    assert await found("suspect") == {"newer", "test newer"}
    assert await found("none,suspect") == {"none", "newer", "test newer"}
    assert await found("covered,!suspect") == {"covered"}


async def test_test_cases_are_found_by_automation_and_by_being_linked(catalog: Any) -> None:
    module = catalog.word()
    linked = await catalog.test_case(title="linked", module=module, automation_status="automated")
    await catalog.test_case(title="orphan", module=module)
    await catalog.link(await catalog.requirement(), linked)

    async def found(**filters: str) -> list[str]:
        return await titles(catalog, "/test-cases", module=module, **filters)

    assert await found(linked="true") == ["linked"]
    assert await found(linked="false") == ["orphan"]
    assert await found(automation_status="automated") == ["linked"]
    assert await found(automation_status="!automated") == ["orphan"]


@BOTH
async def test_items_tell_of_their_links_when_asked_to(catalog: Any, path: str) -> None:
    tag = catalog.word()
    bare, covered, doubted = [await catalog.create(path, tags=[tag]) for _ in range(3)]
    other_path = "/test-cases" if path == "/requirements" else "/requirements"
    others = [await catalog.create(other_path) for _ in range(3)]
    for item, other in ((covered, others[0]), (doubted, others[1]), (doubted, others[2])):
        await catalog.link(*((item, other) if path == "/requirements" else (other, item)))
    await catalog.patch(f"{other_path}/{others[2]['id']}", {"title": "Another"})
    expected = [
        doubted | {"coverage": {"state": "suspect", "links": 2, "suspect_links": 1, "pending_suggestions": 0}},
        covered | {"coverage": {"state": "covered", "links": 1, "suspect_links": 0, "pending_suggestions": 0}},
        bare | {"coverage": {"state": "none", "links": 0, "suspect_links": 0, "pending_suggestions": 0}},
    ]
    assert untagged(await catalog.read(path, tag=tag, expand="coverage")) == expected
    assert untagged(await catalog.read(path, tag=tag)) == [doubted, covered, bare]
    for item in expected:
        assert await catalog.read(f"{path}/{item['id']}", expand="coverage") == item
        assert "coverage" not in await catalog.read(f"{path}/{item['id']}")
    await catalog.patch(f"{path}/{covered['id']}", {"title": "Another"})
    here = await catalog.read(f"{path}/{covered['id']}", expand="coverage")
    assert here["coverage"] == {"state": "suspect", "links": 1, "suspect_links": 1, "pending_suggestions": 0}
    for wrong in (path, f"{path}/{bare['id']}"):
        problem(await catalog.get(wrong, expand="covrage"), 422, field="/query/expand")
    problem(await catalog.get(f"{path}/00000000-0000-4000-8000-000000000000", expand="coverage"), 404)


@BOTH
async def test_items_are_found_by_when_they_changed_last(catalog: Any, path: str) -> None:
    tag = catalog.word()
    first, second = [await catalog.create(path, tags=[tag]) for _ in range(2)]

    async def found(moment: str) -> list[str]:
        return [item["id"] for item in (await catalog.read(path, tag=tag, updated_since=moment))["items"]]

    assert await found(first["updated_at"]) == [second["id"], first["id"]]
    assert await found(second["updated_at"]) == [second["id"]]
    changed = (await catalog.patch(f"{path}/{first['id']}", {"status": "closed" if "req" in path else "ready"})).json()
    assert await found(changed["updated_at"].replace("Z", " 00:00")) == [first["id"]]
    assert await found("2999-01-01") == []
    problem(await catalog.get(path, updated_since="2026-13-01"), 422, field="/query/updated_since")


async def test_postgresql_keeps_the_plans_of_lists_and_reads(catalog: Any) -> None:
    made = await catalog.requirement()
    for _ in range(10):
        await catalog.read("/requirements", limit=17)
        await catalog.read(f"/requirements/{made['id']}")
    kept = "SELECT statement FROM pg_prepared_statements WHERE generic_plans > 0 AND statement LIKE %s"
    for statement in ("% LIMIT 17 %", "% FROM requirements WHERE id = $1%"):
        assert len(await catalog.rows(kept, statement)) == 1, statement


@BOTH
async def test_a_page_of_very_long_items_says_how_many_of_them_fit(catalog: Any, path: str) -> None:
    word = catalog.word()
    for _ in range(35):
        await catalog.create(path, title=word)
    table = path[1:].replace("-", "_")
    await catalog.rows(f"UPDATE {table} SET description = repeat('x', 1000000) WHERE title = %s", word)
    for sort in ("title", "relevance"):
        narrowed = {"search": word, "sort": sort}
        refused = problem(await catalog.get(path, **narrowed, limit=100), 422, "page_too_large")
        assert "limit=33" in refused["detail"]
        assert len((await catalog.read(path, **narrowed, limit=33))["items"]) == 33
        assert len((await catalog.read(path, **narrowed, limit=100, fields="id,title"))["items"]) == 35

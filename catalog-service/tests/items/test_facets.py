"""Facets: how many items each value of a field would find, under the filters of the list."""

from typing import Any

import pytest

from chassis.web import facets
from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


async def counts(catalog: Any, path: str, **params: Any) -> dict[str, Any]:
    """The total, and of each facet the counts by value."""
    found = await catalog.read(f"{path}/facets", **params)
    by_name = {name: {one["value"]: one["count"] for one in values} for name, values in found["facets"].items()}
    return {"total": found["total"], **by_name}


async def doors(catalog: Any, path: str) -> str:
    """Create three items; return what they alone are created by."""
    creator: str = catalog.word()
    await catalog.create(path, created_by=creator, module="doors", tags=["red", "blue", "red"], priority="high")
    await catalog.create(path, created_by=creator, module="doors", tags=["red"])
    await catalog.create(path, created_by=creator)
    return creator


@BOTH
async def test_each_value_is_counted_and_so_is_having_none(catalog: Any, viewer: Any, path: str) -> None:
    creator = await doors(catalog, path)
    found = await viewer.read(f"{path}/facets", created_by=creator)
    assert found["total"] == 3
    assert list(found["facets"])[:5] == ["module", "status", "type", "priority", "tag"]
    assert found["facets"]["module"] == [{"value": "doors", "count": 2}, {"value": None, "count": 1}]
    assert found["facets"]["status"] == [{"value": "draft", "count": 3}]
    assert found["facets"]["type"] == [{"value": "functional", "count": 3}]
    assert found["facets"]["priority"] == [{"value": "medium", "count": 2}, {"value": "high", "count": 1}]
    tags = [{"value": "red", "count": 2}, {"value": "blue", "count": 1}, {"value": None, "count": 1}]
    assert found["facets"]["tag"] == tags, "a tag that an item has twice counts once"


async def test_test_cases_are_counted_by_automation_too(catalog: Any) -> None:
    creator = await doors(catalog, "/test-cases")
    assert (await counts(catalog, "/test-cases", created_by=creator))["automation_status"] == {"manual": 3}
    assert "automation_status" not in await counts(catalog, "/requirements", created_by=creator)


@BOTH
async def test_a_facet_is_counted_without_its_own_filter(catalog: Any, path: str) -> None:
    creator = await doors(catalog, path)
    found = await counts(catalog, path, created_by=creator, module="doors", tag="blue")
    assert found["total"] == 1
    assert found["module"] == {"doors": 1}, "under the filter of the tag"
    assert found["tag"] == {"red": 2, "blue": 1}, "under the filter of the module"
    assert found["priority"] == {"high": 1}
    without = await counts(catalog, path, created_by=creator, module='""', tag="!red")
    assert (without["total"], without["module"], without["tag"]) == (1, {None: 1}, {None: 1})


@BOTH
async def test_each_count_is_what_the_list_finds_with_that_value(catalog: Any, path: str) -> None:
    creator = await doors(catalog, path)
    filters = {"created_by": creator, "priority": "medium,high", "module": "!none", "tag": "red,blue"}
    found = await counts(catalog, path, **filters)
    assert found.pop("total") == (await catalog.read(path, **filters))["total"]
    for name, values in found.items():
        for value, count in values.items():
            chosen = filters | {name: '""' if value is None else value}
            assert (await catalog.read(path, **chosen))["total"] == count, (name, value)


@BOTH
async def test_a_search_and_links_narrow_facets_as_they_narrow_the_list(catalog: Any, path: str) -> None:
    word = catalog.word()
    found = await catalog.create(path, title=f"Doors of {word}", module="doors")
    await catalog.create(path, title=f"Windows of {word}", module="windows")
    assert (await counts(catalog, path, search=word))["module"] == {"doors": 1, "windows": 1}
    other = await catalog.create({"/requirements": "/test-cases", "/test-cases": "/requirements"}[path])
    await (catalog.link(found, other) if path == "/requirements" else catalog.link(other, found))
    linked = {"coverage": "covered"} if path == "/requirements" else {"linked": True}
    assert await counts(catalog, path, search=word, facets="module", **linked) == {"total": 1, "module": {"doors": 1}}


@BOTH
async def test_only_the_facets_that_are_asked_for_are_counted(catalog: Any, path: str) -> None:
    creator = await doors(catalog, path)
    filters = {"created_by": creator, "tag": "blue"}
    assert await counts(catalog, path, facets="status, module", **filters) == {
        "total": 1,
        "module": {"doors": 1},
        "status": {"draft": 1},
    }


@BOTH
async def test_the_values_that_most_have_come_first_up_to_a_limit(
    catalog: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    creator = await doors(catalog, path)
    monkeypatch.setattr(facets, "_MOST_VALUES", 1)
    assert (await counts(catalog, path, created_by=creator))["tag"] == {"red": 2}


@BOTH
async def test_of_nothing_the_total_is_0(catalog: Any, path: str) -> None:
    found = await counts(catalog, path, created_by=catalog.word())
    assert found.pop("total") == 0
    assert set(map(str, found.values())) == {"{}"}


@BOTH
@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("facets", "modul", "unknown_value"),
        ("facets", "", "empty_value"),
        ("status", "purple", "unknown_value"),
        ("skip", "1", "unknown_parameter"),
        ("limit", "1", "unknown_parameter"),
        ("sort", "title", "unknown_parameter"),
    ],
)
async def test_what_facets_do_not_know_is_refused(catalog: Any, path: str, name: str, value: str, code: str) -> None:
    refused = problem(await catalog.get(f"{path}/facets", **{name: value}), 422, field=f"/query/{name}")
    assert refused["errors"][0]["code"] == code

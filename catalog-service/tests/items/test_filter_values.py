"""What items can be filtered by: values with commas and quotes, no value at all, very many values."""

from typing import Any

import pytest

from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
MODULES = ["Zahlung, Käse & Co", 'the "new" one', " Doors", "!urgent", None]


@pytest.fixture(scope="module")
async def author(catalog: Any) -> str:
    """Who made an item of each module, and one with each of two tags; their titles are module and tag."""
    name: str = catalog.word()
    for path in ("/requirements", "/test-cases"):
        for module in MODULES:
            await catalog.create(path, created_by=name, module=module, title=str(module))
        await catalog.create(path, created_by=name, module="tagged", tags=["a, b"], title="a, b")
        await catalog.create(path, created_by=name, module="tagged", tags=["c"], title="c")
    return name


async def titles(catalog: Any, path: str, **params: Any) -> set[str]:
    return {item["title"] for item in (await catalog.read(path, **params))["items"]}


@BOTH
@pytest.mark.parametrize(
    ("module", "found"),
    [
        ('"Zahlung, Käse & Co"', {"Zahlung, Käse & Co"}),
        ('"the ""new"" one"', {'the "new" one'}),
        ('the "new" one', {'the "new" one'}),
        ('"Zahlung, Käse & Co",tagged', {"Zahlung, Käse & Co", "a, b", "c"}),
        ('" Doors"', {"Doors"}),
        ('"!urgent"', {"!urgent"}),
        ('""', {"None"}),
        ('"",tagged', {"None", "a, b", "c"}),
        ('!"",!tagged', {"Zahlung, Käse & Co", 'the "new" one', "Doors", "!urgent"}),
        ('!tagged,!"Zahlung, Käse & Co"', {'the "new" one', "Doors", "!urgent", "None"}),
        ('"nobody, knows"', set()),
    ],
)
async def test_every_module_and_none_can_be_filtered_by(
    catalog: Any, author: str, path: str, module: str, found: set[str]
) -> None:
    assert await titles(catalog, path, created_by=author, module=module) == found


@BOTH
@pytest.mark.parametrize(
    ("tag", "found"),
    [
        ('"a, b"', {"a, b"}),
        ('"a, b",c', {"a, b", "c"}),
        ('"",c', {"c", "Zahlung, Käse & Co", 'the "new" one', "Doors", "!urgent", "None"}),
        ('!"",!c', {"a, b"}),
    ],
)
async def test_every_tag_and_none_can_be_filtered_by(
    catalog: Any, author: str, path: str, tag: str, found: set[str]
) -> None:
    assert await titles(catalog, path, created_by=author, tag=tag) == found


@pytest.mark.parametrize("name", ["external_id", "created_by"])
async def test_who_has_no_value_can_be_asked_for(catalog: Any, name: str) -> None:
    module = catalog.word()
    await catalog.requirement(module=module, external_id=catalog.word(), title="with")
    bare = await catalog.requirement(module=module, title="without")
    async with catalog.database.connection() as connection:
        await connection.execute("UPDATE requirements SET created_by = NULL WHERE id = %s", (bare["id"],))
    assert await titles(catalog, "/requirements", module=module, **{name: '""'}) == {"without"}
    assert await titles(catalog, "/requirements", module=module, **{name: '!""'}) == {"with"}


async def test_reports_take_the_same_values(catalog: Any, author: str) -> None:
    for path in ("/reports/traceability-matrix", "/reports/gaps"):
        found = await catalog.read(path, module='"Zahlung, Käse & Co"')
        rows = found["items"] if "items" in found else found["uncovered_requirements"]["items"]
        assert [row["title"] for row in rows] == ["Zahlung, Käse & Co"]
        assert (await catalog.get(path, module="")).status_code == 422


@BOTH
async def test_very_many_values_are_answered(catalog: Any, author: str, path: str) -> None:
    thousand = ",".join(f'"m, {number}"' for number in range(999))
    assert await titles(catalog, path, created_by=author, module=f"{thousand},tagged") == {"a, b", "c"}
    assert await titles(catalog, path, created_by=author, type=",".join(["functional"] * 2000), module="tagged")
    refused = await catalog.get(path, module=",".join(map(str, range(5000))))
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["code"] == "too_many_values"


async def test_a_coverage_asked_for_thousands_of_times_is_asked_for_once(catalog: Any, author: str) -> None:
    params = {"coverage": ",".join(["none", "!suspect"] * 2000), "created_by": author, "module": "tagged"}
    assert await titles(catalog, "/requirements", **params) == {"a, b", "c"}


@BOTH
@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("module", '"Doors, left', "The quotes of '\"Doors, left' are not closed"),
        ("module", "", 'or write module="" for those that have none'),
        ("priority", "urgent", "There is no priority 'urgent'; it can be critical, high, medium or low."),
        ("status", "", "leave status out to have all."),
    ],
)
async def test_a_filter_that_makes_no_sense_says_why(catalog: Any, path: str, name: str, value: str, told: str) -> None:
    assert told in problem(await catalog.get(path, **{name: value}), 422, field=f"/query/{name}")["detail"]

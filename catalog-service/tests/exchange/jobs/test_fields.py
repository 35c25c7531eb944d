"""Fields of a project in imports: read, checked, filled in, made, and with a meaning."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import Json, ok

ADMIN = Identity(id=9, email="admin@example.test", role=Role.ADMIN)
ASIL = {
    "key": "asil",
    "name": "ASIL",
    "of": ["requirement"],
    "kind": "choice",
    "choices": ["QM", "A", "D"],
    "meaning": True,
}
EFFORT = {"key": "effort", "name": "Effort", "of": ["requirement"], "kind": "number"}


async def define(imports: Any, *fields: Json) -> Json:
    return ok(await imports.catalog.being(ADMIN).put("/fields", {"fields": [*fields]}))


@pytest.fixture(autouse=True)
async def no_fields(imports: Any) -> AsyncIterator[None]:
    yield
    await define(imports)


async def sent(catalog: Any, rows: list[list[str]], mapping: Json | None = None, path: str = "/imports") -> Json:
    """Send a table; return the import, or what an inspection says of it."""
    text = "\n".join(",".join(cells) for cells in rows)
    form: dict[str, Any] = {"file": ("rows.csv", text.encode(), "text/csv")}
    if mapping is not None:
        form["mapping"] = (None, json.dumps(mapping))
    return ok(await catalog.request("POST", path, files=form))


def table(*columns: str, rows: int = 4, cells: Any = ()) -> list[list[str]]:
    header = ["ID", "Title", "Description", "Type", "Priority", *columns]
    body = [[f"{column}", "Doors close", "All doors close.", "functional", "high"] for column in range(rows)]
    return [header, *([*row, *own] for row, own in zip(body, cells, strict=True))]


def keyed(imports: Any, rows: list[list[str]]) -> list[str]:
    """Give the rows ids of their own; return these."""
    word = imports.catalog.word()[:8]
    for row in rows[1:]:
        row[0] = f"REQ-{word}-{row[0]}"
    return [row[0] for row in rows[1:]]


async def values(imports: Any, keys: list[str]) -> list[Any]:
    found = [await imports.catalog.read(f"/requirements/by-external-id/{key}") for key in keys]
    return [(one["custom_metadata"] or {}).get("fields") for one in found]


async def test_a_column_called_as_a_field_becomes_it_and_its_cells_are_read(imports: Any) -> None:
    await define(imports, ASIL, EFFORT)
    rows = table("asil", "Effort", cells=[("d", "3"), ("QM", "2.5"), ("", ""), ("A", "7")])
    keys = keyed(imports, rows)
    job = await imports.apply(await sent(imports.catalog, rows))
    assert job["counts"]["requirements"]["create"] == 4
    expected = [{"asil": "D", "effort": 3}, {"asil": "QM", "effort": 2.5}, None, {"asil": "A", "effort": 7}]
    assert await values(imports, keys) == expected


async def test_a_value_that_its_field_does_not_take_is_an_error_of_its_row(imports: Any) -> None:
    await define(imports, ASIL, EFFORT)
    rows = table("ASIL", "Effort", cells=[("E", "3"), ("D", "much"), ("D", "1"), ("", "")])
    keyed(imports, rows)
    job = await sent(imports.catalog, rows)
    assert job["counts"]["requirements"]["error"] == 2
    problems = [one["problems"][0] for one in await imports.rows(job, action="error")]
    assert [(one["name"], one["code"]) for one in problems] == [
        ("ASIL", "field_value"),
        ("Effort", "field_value"),
    ]


async def test_a_change_of_a_field_with_a_meaning_raises_the_version(imports: Any) -> None:
    await define(imports, ASIL, EFFORT)
    rows = table("ASIL", "Effort", rows=2, cells=[("A", "1"), ("A", "1")])
    keys = keyed(imports, rows)
    await imports.apply(await sent(imports.catalog, rows))
    items = [await imports.catalog.read(f"/requirements/by-external-id/{key}") for key in keys]
    for item in items:
        await imports.catalog.link(item, await imports.catalog.test_case())
    rows[1][-2], rows[2][-1] = "D", "2"
    plan = await sent(imports.catalog, rows)
    assert (plan["counts"]["requirements"]["update"], plan["summary"]["makes_suspect"]) == (2, 1)
    await imports.apply(plan)
    assert [(await imports.catalog.read(f"/requirements/{one['id']}"))["version"] for one in items] == [2, 1]
    links = (await imports.catalog.read("/links", requirement_id=items[0]["id"]))["items"]
    assert links[0]["suspect"] is True
    suspicion = await imports.catalog.read(f"/links/{links[0]['id']}/suspicion")
    assert "field.asil" in suspicion["summary"]


async def test_required_fields_are_filled_and_counted_or_refused(imports: Any) -> None:
    await define(imports, {**ASIL, "required": True, "default": "QM"})
    rows = table("ASIL", rows=3, cells=[("D",), ("",), ("",)])
    keys = keyed(imports, rows)
    plan = await sent(imports.catalog, rows)
    assert plan["summary"]["defaulted"]["field.asil"] == 2
    await imports.apply(plan)
    assert await values(imports, keys) == [{"asil": "D"}, {"asil": "QM"}, {"asil": "QM"}]
    await define(imports, {**EFFORT, "required": True})
    other = table(rows=1, cells=[()])
    keyed(imports, other)
    refused = await sent(imports.catalog, other)
    assert refused["counts"]["requirements"]["error"] == 1
    (row,) = await imports.rows(refused)
    assert (row["code"], row["problems"][0]["name"]) == ("missing", "field.effort")
    again = await sent(imports.catalog, rows)
    assert again["counts"]["requirements"]["unchanged"] + again["counts"]["requirements"]["update"] == 3


async def test_an_admin_makes_a_field_of_a_column_and_the_next_file_fits_by_itself(imports: Any) -> None:
    cells = [("Kim Person", "gold"), ("Lee Person", "gold"), ("Kim Person", "blue"), ("Kim Person", "gold")]
    rows = table("Owner of it", "Ring", cells=cells)
    keys = keyed(imports, rows)
    looked = await sent(imports.catalog, rows, path="/imports/inspect")
    column = next(one for one in looked["columns"] if one["name"] == "Owner of it")
    assert column["make"] == {"key": "owner_of_it", "name": "Owner of it", "kind": "person", "values": 2}
    make = {"name": "Owner", "kind": "person"}
    mapping = looked["mapping"]
    mapping["fields"]["field.owner_of_it"] = {"column": "Owner of it", "make": make}
    by_reviewer = await sent(imports.catalog, rows, mapping)
    (told,) = [one for one in by_reviewer["summary"]["warnings"] if one["code"] == "field_not_made"]
    assert "only admins" in told["message"]
    plan = await sent(imports.catalog.being(ADMIN), rows, mapping)
    assert "fields_made" in {one["code"] for one in plan["summary"]["warnings"]}
    assert await imports.catalog.read("/fields") == {"fields": []}, "a plan makes nothing"
    await imports.apply(plan)
    assert [one["key"] for one in (await imports.catalog.read("/fields"))["fields"]] == ["owner_of_it"]
    assert (await values(imports, keys))[0] == {"owner_of_it": "Kim Person"}
    again = await sent(imports.catalog, rows, path="/imports/inspect")
    assert again["mapping"]["fields"]["field.owner_of_it"] == {"column": "Owner of it"}


@pytest.mark.parametrize("profile", ["native", "plain"])
@pytest.mark.parametrize("form", ["csv", "xlsx"])
async def test_tables_have_a_column_of_each_field_and_come_back_as_they_were(
    imports: Any, form: str, profile: str
) -> None:
    areas = {"key": "areas", "name": "Areas", "of": ["requirement"], "kind": "choices", "choices": ["door", "a, b"]}
    safe = {"key": "safe", "name": "Safe", "of": ["requirement"], "kind": "yes_no"}
    await define(imports, ASIL, EFFORT, areas, safe)
    module = imports.catalog.word()
    said = [{"asil": "D", "effort": 2.5, "areas": ["door", "a, b"], "safe": True}, {"effort": 3}, None]
    for values in said:
        data = {"custom_metadata": {"fields": values}} if values else {}
        await imports.catalog.requirement(external_id=imports.catalog.word(), module=module, **data)
    query = {"format": form, "profile": profile, "kind": "requirements", "module": module, "links": "false"}
    exported = await imports.catalog.get("/exports", **query)
    if form == "csv":
        header = exported.text.splitlines()[0].split(",")
        assert {"field.asil", "field.effort", "field.areas", "field.safe"} <= set(header)
    files = {"file": (f"record.{form}", exported.content, exported.headers["content-type"])}
    plan = ok(await imports.catalog.request("POST", "/imports", files=files))
    assert plan["counts"]["requirements"]["unchanged"] == 3, plan["counts"]
    assert plan["summary"]["clean"] is True, plan["summary"]
    if form == "csv":
        changed = exported.content.replace(b",2.5,", b",7,")
        again = {"file": ("record.csv", changed, "text/csv")}
        await imports.apply(ok(await imports.catalog.request("POST", "/imports", files=again)))
        found = (await imports.catalog.read("/requirements", module=module, **{"field.effort": "7"}))["items"]
        assert [one["custom_metadata"]["fields"]["effort"] for one in found] == [7]

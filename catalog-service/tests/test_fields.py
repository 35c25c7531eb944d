"""Fields of a project: what they take, what they mean, and how items are found by them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

ADMIN = Identity(id=9, email="admin@example.test", role=Role.ADMIN)
BOTH = ["requirement", "test_case"]


def field(key: str, kind: str, **more: Any) -> Json:
    return {"key": key, "name": key.title(), "of": BOTH, "kind": kind, **more}


ASIL = field("asil", "choice", choices=["QM", "A", "B", "C", "D"], meaning=True, of=["requirement"])
FIELDS = [
    ASIL,
    field("owner", "person"),
    field("effort", "number"),
    field("due", "date"),
    field("note", "text"),
    field("areas", "choices", choices=["door", "brake, left", "cab"]),
    field("page", "address"),
    field("safe", "yes_no"),
]


async def define(catalog: Any, *fields: Json) -> Json:
    return ok(await catalog.being(ADMIN).put("/fields", {"fields": [*fields]}))


def valued(**values: Any) -> Json:
    return {"custom_metadata": {"fields": values}}


@pytest.fixture
async def fields(catalog: Any) -> AsyncIterator[Any]:
    """The service, whose project has fields for the time of a test."""
    await define(catalog, *FIELDS)
    yield catalog
    await define(catalog)


async def found(catalog: Any, creator: str, path: str = "/requirements", **params: str) -> list[str]:
    page = await catalog.read(path, created_by=creator, **params)
    return [one["title"] for one in page["items"]]


async def test_admins_define_fields_and_others_read_them(catalog: Any, viewer: Any) -> None:
    assert (await catalog.put("/fields", {"fields": [ASIL]})).status_code == 403
    defined = await define(catalog, ASIL)
    assert defined["fields"][0] == {**ASIL, "required": False, "default": None}
    assert await viewer.read("/fields") == defined
    await define(catalog)
    assert await viewer.read("/fields") == {"fields": []}


async def test_values_are_checked_on_each_way_to_write_an_item(fields: Any) -> None:
    bad = valued(asil="E")
    body = fields.item(**bad)
    item = await fields.requirement(**valued(asil="D"))
    path = f"/requirements/{item['id']}"
    for answer in (
        await fields.post("/requirements", body),
        await fields.post("/requirements", body, Idempotency_Key=fields.word()),
        await fields.put(f"/requirements/by-external-id/{fields.word()}", body),
        await fields.put(path, body),
        await fields.patch(path, bad),
    ):
        told = problem(answer, 422)
        assert told["errors"][0]["pointer"] == "/custom_metadata/fields/asil"
        assert "QM, A, B, C or D" in told["errors"][0]["message"]
    many = ok(await fields.post("/requirements/bulk", {"ids": [item["id"]], "patch": bad}))
    assert many["results"][0]["error"]["errors"][0]["pointer"] == "/custom_metadata/fields/asil"
    assert (await fields.read(path))["custom_metadata"] == {"fields": {"asil": "D"}}


async def test_items_are_found_by_the_values_of_their_fields(fields: Any) -> None:
    by = fields.word()
    values = [
        {"asil": "D", "owner": "Kim", "effort": 3, "due": "2026-01-31", "areas": ["door", "cab"], "safe": True},
        {"asil": "A", "owner": "Lee", "effort": 8.5, "due": "2026-03-01", "areas": ["brake, left"], "safe": False},
        {"asil": "QM", "effort": 12, "note": "Brake light"},
        {},
    ]
    for number, one in enumerate(values):
        await fields.requirement(title=str(number), created_by=by, **valued(**one))
    asked = {
        ("asil", "D"): "0",
        ("asil", "D,A"): "01",
        ("asil", "!D"): "123",
        ("asil", '""'): "3",
        ("asil", '!""'): "012",
        ("asil", 'D,""'): "03",
        ("owner", "~ki"): "0",
        ("owner", "Kim"): "0",
        ("effort", "3.0"): "0",
        ("effort", "3..8.5"): "01",
        ("effort", "9.."): "2",
        ("effort", "!..8"): "123",
        ("due", "2026-02-01.."): "1",
        ("areas", "cab"): "0",
        ("areas", '"brake, left",door'): "01",
        ("note", "~brake"): "2",
        ("safe", "yes"): "0",
        ("safe", "!yes"): "123",
    }
    for (key, said), expected in asked.items():
        assert "".join(await found(fields, by, sort="title", **{f"field.{key}": said})) == expected, (key, said)
    for order, expected in (("field.asil", "2103"), ("field.effort:desc", "2103"), ("field.owner", "01")):
        assert "".join(await found(fields, by, sort=order)).startswith(expected), order


async def test_a_definition_holds_at_once(catalog: Any) -> None:
    await define(catalog, ASIL)
    await catalog.requirement(**valued(asil="D"))
    await define(catalog, ASIL, field("owner", "person"))
    await catalog.requirement(**valued(owner="Kim"))
    await define(catalog, {**ASIL, "required": True})
    assert problem(await catalog.post("/requirements", catalog.item()), 422)["errors"][0]["code"] == "missing"
    await define(catalog, {**ASIL, "required": True, "default": "QM"})
    item = await catalog.requirement()
    assert item["custom_metadata"] == {"fields": {"asil": "QM"}}
    await define(catalog)
    assert (await catalog.requirement(**valued(anything=1)))["custom_metadata"] == {"fields": {"anything": 1}}


async def test_a_field_in_use_keeps_its_kind_and_its_choices(catalog: Any) -> None:
    key = f"k{catalog.word()[:8]}"
    ring = {**field(key, "choice", choices=["gold", "blue"]), "name": "Ring"}
    await define(catalog, ring)
    await catalog.requirement(**valued(**{key: "gold"}))
    await catalog.test_case(**valued(**{key: "gold"}))
    admin = catalog.being(ADMIN)
    for other in ({**ring, "kind": "text", "choices": []}, {**ring, "choices": ["blue"]}):
        told = problem(await admin.put("/fields", {"fields": [other]}), 409)
        assert (told["code"], told["count"], told["key"]) == ("field_in_use", 2, key)
    await define(catalog)
    assert problem(await admin.put("/fields", {"fields": [{**ring, "kind": "text", "choices": []}]}), 409)["count"] == 2
    await define(catalog, {**ring, "choices": ["gold", "red"]})
    await define(catalog)


async def test_a_meaning_makes_links_suspect_and_history_names_it(fields: Any) -> None:
    item = await fields.requirement(**valued(asil="A", owner="Kim"))
    link = await fields.link(item, await fields.test_case())
    path = f"/requirements/{item['id']}"
    assert ok(await fields.patch(path, valued(owner="Lee")))["version"] == 1
    assert ok(await fields.patch(path, valued(asil="B")))["version"] == 2
    assert (await fields.read(f"/links/{link['id']}"))["suspect"] is True
    suspicion = await fields.read(f"/links/{link['id']}/suspicion")
    assert suspicion["requirement"]["changed_by"][0]["fields"] == ["field.asil"]
    assert list(suspicion["requirement"]["differences"]) == ["field.asil"]
    history = (await fields.read(f"{path}/history"))["items"]
    assert [(one["from_version"], one["to_version"]) for one in history] == [(1, 2), (1, 1), (None, 1)]


async def test_rules_of_a_gate_are_about_items_with_a_value(fields: Any) -> None:
    admin, name = fields.being(ADMIN), fields.word()
    await fields.requirement(**valued(asil="D", note=name))
    rule = {"rule": "max_uncovered", "limit": 0, "where": {"field.note": [name], "field.asil": "D,A"}}
    saved = ok(await admin.put(f"/reports/gate/policies/{name}", {"rules": [rule]}), 201)
    assert saved["rules"][0]["where"] == rule["where"]
    judged = await fields.read("/reports/gate", policy=name)
    uncovered = next(one for one in judged["rules"] if one["rule"] == "max_uncovered")
    assert (uncovered["actual"], uncovered["where"]["field.note"]) == (1, name)
    nobody = {**rule, "where": {"field.nothing": "D"}}
    assert problem(await fields.post("/reports/gate", {"rules": [nobody]}), 422)["code"] == "unknown_field"

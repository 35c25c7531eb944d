"""GET /exports: the record as a file, complete and of one moment."""

import tempfile
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import httpx
import orjson
import pytest

from catalog_service.exchange import registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Item, Link, Record, Revision
from catalog_service.settings import Settings

ITEMS = {"requirement": "/requirements", "test_case": "/test-cases"}


async def export(catalog: Any, **query: Any) -> httpx.Response:
    response = await catalog.get("/exports", **query)
    assert response.status_code == 200, response.text
    return response


def lines(response: httpx.Response) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in response.content.splitlines()]


def read(response: httpx.Response, **options: Any) -> list[Record]:
    """Return what the reader of the format makes of an export."""
    name = response.headers["content-disposition"].split('"')[1]
    file = BytesIO(response.content)
    known = registry.recognise(file, name, None)
    assert name.endswith(known.suffixes)
    return list(known.read(file, ReadOptions(file_name=name, **options)))


async def a_project(catalog: Any) -> tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Create a requirement and a test case in a module of their own, linked, and suspect since a change."""
    module = catalog.word()
    requirement = await catalog.requirement(
        module=module, external_id=catalog.word(), tags=["a,b", "ü"], custom_metadata={"z": 1.0, "a": {"b": []}}
    )
    test_case = await catalog.test_case(module=module, steps={"2": "", "1": "Look\r\n\u2028"}, test_data={})
    link = await catalog.link(requirement, test_case, notes="'agreed'")
    changed = await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Doors never open"})
    assert changed.status_code == 200
    return module, changed.json(), test_case, link


@pytest.mark.parametrize("export_format", ["json", "ndjson"])
async def test_a_native_export_holds_what_the_api_answers(catalog: Any, export_format: str) -> None:
    module, requirement, test_case, link = await a_project(catalog)
    await catalog.requirement(module=catalog.word())
    response = await export(catalog, format=export_format, module=module)
    items = {record.kind: record.fields for record in read(response) if isinstance(record, Item)}
    (found,) = [record for record in read(response) if isinstance(record, Link)]
    for kind, item in (("requirement", requirement), ("test_case", test_case)):
        assert list(items[kind]) == list(item)
        assert items[kind] == item
    assert found.requirement == {"id": requirement["id"]}
    assert found.test_case == {"id": test_case["id"]}
    assert (
        found.fields
        | {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
        | {
            "suspect": False,
            "suspect_reason": None,
            "suggestion_id": None,
        }
        == link
    )
    (revision,) = [record for record in read(response) if isinstance(record, Revision)]
    assert revision.fields["item_id"] == requirement["id"]
    assert revision.fields["changed_fields"] == ["title"]


async def test_the_first_line_says_what_the_file_holds_and_the_last_that_it_is_whole(catalog: Any) -> None:
    module, *_ = await a_project(catalog)
    head, *records, end = lines(await export(catalog, format="ndjson", module=module))
    counts = {
        "requirements": 1,
        "test_cases": 1,
        "links": 1,
        "relations": 0,
        "revisions": 1,
        "references": 0,
        "schemas": 0,
    }
    assert list(head) == ["traceline_exchange", "instance", "exported_at", "record_position", "profile", "counts"]
    assert head["traceline_exchange"] == 1
    assert head["profile"] == "native"
    assert head["counts"] == end["counts"] == counts
    assert [record["kind"] for record in records] == ["requirement", "test_case", "link", "revision"]
    whole = lines(await export(catalog, format="ndjson"))
    assert whole[0]["counts"] == whole[-1]["counts"]


async def test_revisions_are_those_that_a_suspect_link_needs(catalog: Any) -> None:
    module, requirement, _, link = await a_project(catalog)
    confirmed = await catalog.post(f"/links/{link['id']}/confirm")
    assert confirmed.status_code == 200
    assert not [
        record for record in lines(await export(catalog, format="ndjson", module=module)) if "item_id" in record
    ]
    for title in ("Doors open", "Doors close"):
        await catalog.patch(f"/requirements/{requirement['id']}", {"title": title})
    exported = lines(await export(catalog, format="ndjson", module=module))
    assert [record["version"] for record in exported if "item_id" in record] == [3, 4]


async def test_a_plain_export_names_items_by_external_id(catalog: Any) -> None:
    module, requirement, test_case, _ = await a_project(catalog)
    response = await export(catalog, format="ndjson", module=module, profile="plain")
    head, first, second, link, end = lines(response)
    assert head["profile"] == "plain"
    made = {"id", "position", "version", "created_at", "updated_at"}
    assert first | {"id": None} == first
    assert {name: first[name] for name in requirement.keys() - made} == {
        name: value for name, value in requirement.items() if name not in made
    }
    assert made & first.keys() == {"id"}
    assert second["id"] == test_case["id"], "it has no external_id to be named by"
    assert (link["requirement"], link["requirement_id"]) == (requirement["external_id"], None)
    assert (link["test_case"], link["test_case_id"]) == (None, test_case["id"])
    assert end["counts"] == dict.fromkeys(end["counts"], 0) | {"requirements": 1, "test_cases": 1, "links": 1}
    item, other, found = read(response)
    assert isinstance(item, Item)
    assert item.fields == {name: value for name, value in requirement.items() if name not in made}
    assert isinstance(other, Item)
    assert other.fields["id"] == test_case["id"]
    assert isinstance(found, Link)
    assert (found.requirement, found.test_case) == (
        {"external_id": requirement["external_id"]},
        {"id": test_case["id"]},
    )


async def test_kinds_links_and_the_filters_of_the_lists_narrow_an_export(catalog: Any) -> None:
    module, *_ = await a_project(catalog)
    await catalog.test_case(module=module, type="security", tags=["x"])

    async def kinds(**query: Any) -> list[str]:
        return [
            record["kind"] for record in lines(await export(catalog, format="ndjson", module=module, **query))[1:-1]
        ]

    assert await kinds(kind="requirements") == ["requirement"]
    assert await kinds(kind="test_cases") == ["test_case", "test_case"]
    assert await kinds(kind="links") == ["link"]
    assert await kinds(links=False) == ["requirement", "test_case", "test_case"]
    assert await kinds(type="security") == ["test_case"]
    assert await kinds(tag="x") == ["test_case"]
    assert await kinds(linked=False) == ["requirement", "test_case"]
    assert await kinds(coverage="suspect", linked=True) == ["requirement", "test_case", "link", "revision"]
    assert await kinds(search="never") == ["requirement"]
    assert await kinds(verdict="not_run", links=False) == ["requirement", "test_case", "test_case"]
    assert await kinds(verdict="uncovered,skipped") == []


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"format": "docx"}, "/query/format"),
        ({"kind": "suggestions"}, "/query/kind"),
        ({"type": "odd"}, "/query/type"),
        ({"kind": "requirements", "type": "security"}, "/query/type"),
        ({"kind": "test_cases", "coverage": "none"}, "/query/coverage"),
        ({"kind": "test_cases", "verdict": "uncovered"}, "/query/verdict"),
        ({"module": '"'}, "/query/module"),
        ({"limit": "5"}, "/query/limit"),
    ],
)
async def test_what_cannot_be_exported_is_said(catalog: Any, query: dict[str, str], pointer: str) -> None:
    response = await catalog.get("/exports", **query)
    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["pointer"] == pointer


async def test_accept_says_the_form_where_format_does_not(catalog: Any) -> None:
    for accept, media_type in (("*/*", "application/json"), ("application/x-ndjson", "application/x-ndjson")):
        response = await catalog.request("GET", "/exports", headers={"Accept": accept}, params={"kind": "links"})
        assert response.headers["content-type"].startswith(media_type)
        assert response.headers["content-disposition"].startswith('attachment; filename="traceline-links-')


async def test_an_export_is_of_one_moment_and_its_memory_bounded(catalog: Any, monkeypatch: Any) -> None:
    """The whole goes through a file that grows, in parts of some rows."""
    from catalog_service.exchange.writing import repository, service
    from catalog_service.exchange.writing.documents import NdjsonExport
    from catalog_service.exchange.writing.schemas import ExportQuery
    from catalog_service.exchange.writing.scope import filters_of

    module = catalog.word()
    for _ in range(3):
        await catalog.requirement(module=module)
    monkeypatch.setattr(repository, "_ROWS_AT_ONCE", 1)
    query = ExportQuery(module=module)
    basis = Settings(database_url=catalog.database.url).basis(datetime.now(UTC))
    with tempfile.TemporaryFile() as file:
        lengths = []
        async for length in service.make(catalog.database, query, filters_of(query), NdjsonExport, basis, file):
            lengths.append(length)
            await catalog.requirement(module=module)
        file.seek(0)
        content = file.read().splitlines()
    assert len(set(lengths)) == 5
    assert orjson.loads(content[0])["counts"] == orjson.loads(content[-1])["counts"]
    assert orjson.loads(content[-1])["counts"]["requirements"] == 3


@pytest.mark.parametrize("export_format", ["csv", "xlsx", "reqif", "reqifz"])
async def test_each_form_is_read_again_as_what_it_was(catalog: Any, export_format: str) -> None:
    module, requirement, test_case, link = await a_project(catalog)
    long = await catalog.test_case(module=module, external_id=catalog.word(), description="ä" * 40_000, title="=1+1")
    response = await export(catalog, format=export_format, module=module, profile="plain")
    records = read(response)
    items = {record.fields["title"]: record for record in records if isinstance(record, Item)}
    made = {"id", "position", "version", "created_at", "updated_at"}
    for kind, item in (("requirement", requirement), ("test_case", test_case), ("test_case", long)):
        record = items[item["title"]]
        assert (record.kind, record.problems) == (kind, [])
        assert _said(record.fields) == _said({name: value for name, value in item.items() if name not in made})
    (found,) = [record for record in records if isinstance(record, Link)]
    assert found.problems == []
    assert found.fields["link_type"] == link["link_type"]
    assert found.fields["notes"] == link["notes"]
    assert set(found.requirement.values()) <= {requirement["external_id"], requirement["id"]}
    assert set(found.test_case.values()) <= {test_case["id"]}


def _said(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "id" and value not in (None, [], False)}


async def test_one_kind_is_one_table(catalog: Any) -> None:
    module, requirement, *_ = await a_project(catalog)
    response = await export(catalog, format="csv", kind="requirements", module=module)
    assert response.headers["content-type"].startswith("text/csv")
    (item,) = read(response)
    assert isinstance(item, Item)
    assert item.fields["id"] == requirement["id"]
    assert item.version == requirement["version"]


async def test_formats_tell_what_is_read_and_written_and_give_templates_that_are_read(catalog: Any) -> None:
    told = (await catalog.get("/exports/formats")).json()
    assert {one["name"] for one in told["read"]} == {known.name for known in registry.FORMATS}
    assert {one["name"] for one in told["written"]} == {"json", "ndjson", "csv", "xlsx", "reqif", "reqifz"}
    assert "jira" in {one["name"] for one in told["presets"]}
    for kind, template in told["templates"].items():
        file = BytesIO(template.encode())
        (record,) = registry.recognise(file, f"{kind}.csv", None).read(file, ReadOptions(kind=kind))
        assert isinstance(record, Item | Link)
        assert record.problems == []

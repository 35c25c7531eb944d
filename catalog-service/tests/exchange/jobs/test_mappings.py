"""Mappings are kept under a name, checked when they are sent, and say how a table is read."""

from typing import Any

import orjson
import pytest

from testing.service import ok, problem

MAPPING = {
    "version": 1,
    "kind": "requirements",
    "source_system": "jira",
    "fields": {
        "external_id": {"column": "Key"},
        "title": {"column": "Summary"},
        "description": {"column": "Text"},
        "priority": {"column": "P", "values": {"Highest": "critical", "*": "medium"}},
        "type": {"constant": "functional"},
    },
}
CSV = {"content-type": "text/csv"}


@pytest.fixture
async def saved(catalog: Any) -> Any:
    return ok(await catalog.post("/imports/mappings", {"name": catalog.word(), "mapping": MAPPING}), 201)


async def test_a_mapping_is_kept_changed_and_deleted(catalog: Any, viewer: Any, saved: Any) -> None:
    path = f"/imports/mappings/{saved['id']}"
    read = await viewer.get(path)
    assert ok(read) == saved
    (listed,) = (await viewer.read("/imports/mappings", name=saved["name"]))["items"]
    assert listed["etag"] == read.headers["etag"]
    body = {"name": saved["name"], "description": "Weekly", "mapping": MAPPING}
    replaced = ok(await catalog.put(path, body, if_match=read.headers["etag"]))
    assert replaced["description"] == "Weekly"
    problem(await catalog.put(path, body, if_match=read.headers["etag"]), 412)
    problem(await viewer.put(path, body), 403)
    assert (await catalog.delete(path)).status_code == 204
    problem(await catalog.get(path), 404, "mapping_not_found")


async def test_a_name_is_of_one_mapping(catalog: Any, saved: Any) -> None:
    for name in (saved["name"], saved["name"].upper()):
        problem(await catalog.post("/imports/mappings", {"name": name, "mapping": MAPPING}), 409, "name_taken")
    other = ok(await catalog.post("/imports/mappings", {"name": catalog.word(), "mapping": MAPPING}), 201)
    body = {"name": saved["name"], "mapping": MAPPING}
    problem(await catalog.put(f"/imports/mappings/{other['id']}", body), 409, "name_taken")
    body["name"] = other["name"].upper()
    assert ok(await catalog.put(f"/imports/mappings/{other['id']}", body))["name"] == body["name"]


async def test_a_mapping_that_is_none_is_refused_with_its_place(catalog: Any) -> None:
    wrong = {**MAPPING, "fields": {"titel": {"column": "Summary"}}}
    body = {"name": catalog.word(), "mapping": wrong}
    problem(await catalog.post("/imports/mappings", body), 422, field="/mapping/fields/titel")
    body["mapping"] = {**MAPPING, "fields": {}}
    problem(await catalog.post("/imports/mappings", body), 422, field="/mapping/fields")


@pytest.mark.parametrize("by", ["name", "id"])
async def test_a_table_is_read_by_a_saved_mapping(imports: Any, saved: Any, by: str) -> None:
    key = imports.catalog.word()
    content = f"Key,Summary,Text,P\n{key},Doors close,All doors,Highest\n".encode()
    job = ok(await imports.send_file(content, CSV, mapping=saved[by]))
    assert job["counts"]["requirements"]["create"] == 1
    await imports.apply(job)
    made = await imports.catalog.read(f"/requirements/by-external-id/{key}")
    assert (made["title"], made["priority"], made["source_system"]) == ("Doors close", "critical", "jira")


async def test_a_mapping_may_come_with_the_file(imports: Any) -> None:
    files = {
        "file": ("reqs.csv", f"Key,Summary,Text,P\n{imports.catalog.word()},T,D,x\n".encode()),
        "mapping": (None, orjson.dumps(MAPPING)),
    }
    job = ok(await imports.catalog.request("POST", "/imports", files=files))
    assert job["counts"]["requirements"]["create"] == 1
    files["mapping"] = (None, b'{"version": }')
    refused = problem(await imports.catalog.request("POST", "/imports", files=files), 400, "malformed_json")
    assert refused["detail"].startswith("The part `mapping` of the form is not valid JSON")
    files["mapping"] = (None, b'{"version": 3}')
    problem(await imports.catalog.request("POST", "/imports", files=files), 422, field="/mapping/version")


async def test_a_mapping_that_nobody_has_saved_is_refused(imports: Any) -> None:
    problem(await imports.send_file(b"a,b\n1,2\n", CSV, mapping="nobody's"), 422, field="/query/mapping")


async def test_items_are_found_by_the_key_of_the_mapping(imports: Any) -> None:
    title = imports.catalog.word()
    await imports.catalog.requirement(title=title, module="Doors")
    await imports.catalog.requirement(title=title, module="Brakes")
    fields = {
        "title": {"column": "Title"},
        "module": {"column": "Module"},
        "description": {"column": "Text"},
        "type": {"constant": "functional"},
        "priority": {"constant": "low"},
    }
    name = imports.catalog.word()
    for key in (["title", "module"], ["title"]):
        mapping = {"version": 1, "kind": "requirements", "key": key, "fields": fields}
        ok(await imports.catalog.post("/imports/mappings", {"name": f"{name}{len(key)}", "mapping": mapping}), 201)
    content = f"Title,Module,Text\n{title},Doors,New\n".encode()
    (row,) = await imports.rows(ok(await imports.send_file(content, CSV, mapping=f"{name}2")))
    assert (row["action"], [change["field"] for change in row["changes"]]) == ("update", ["description"])
    (row,) = await imports.rows(ok(await imports.send_file(content, CSV, mapping=f"{name}1")))
    assert (row["action"], row["code"]) == ("conflict", "ambiguous_key")


async def test_refused_rows_come_back_as_they_were_sent(imports: Any, saved: Any) -> None:
    key = imports.catalog.word()
    content = f'Key,Summary,Text,P\n{key}1,Good,"A, b",x\n{key}2,,"A, ""b""\nc",x\n'.encode()
    job = ok(await imports.send_file(content, CSV, mapping=saved["name"]))
    answer = await imports.catalog.get(f"/imports/{job['id']}/rows", format="csv")
    assert answer.headers["content-type"].startswith("text/csv")
    header, *rows = answer.content.decode("utf-8-sig").split("\r\n", 1)
    assert header == "Key,Summary,Text,P,problem"
    assert rows[0].startswith(f'{key}2,,"A, ""b""\nc",x,')
    assert "title: " in rows[0]


async def test_a_problem_of_a_table_names_its_cell(imports: Any, saved: Any) -> None:
    content = f"Key,Summary,Text,P\n{imports.catalog.word()},{'x' * 501},D,x\n".encode()
    (row,) = await imports.rows(ok(await imports.send_file(content, CSV, mapping=saved["name"])))
    (wrong,) = row["problems"]
    assert (wrong["column"], wrong["cell"], wrong["name"]) == (2, "B2", "Summary")


async def test_a_file_is_inspected_and_nothing_of_it_stored(imports: Any, viewer: Any) -> None:
    before = (await imports.catalog.read("/imports"))["total"]
    content = b"Key;Summary;Description;Priority\n" + b"".join(b"R-%d;T;D;high\n" % number for number in range(30))
    found = ok(await imports.catalog.request("POST", "/imports/inspect", content=content, headers=CSV))
    assert (found["format"], found["dialect"]["delimiter"]) == ("csv", ";")
    assert [column["name"] for column in found["columns"]] == ["Key", "Summary", "Description", "Priority"]
    assert len(found["rows"]) == 20
    assert found["rows"][0]["fields"]["external_id"] == "R-0"
    assert found["mapping"]["fields"]["title"] == {"column": "Summary"}
    assert (await imports.catalog.read("/imports"))["total"] == before
    problem(await viewer.request("POST", "/imports/inspect", content=content), 403)


async def test_the_beginning_of_a_file_is_enough_to_inspect_it(imports: Any) -> None:
    content = b"Key,Summary,Description\n" + b"R-1,T,D\n" * 200_000
    found = ok(await imports.catalog.request("POST", "/imports/inspect", content=content, headers=CSV))
    assert len(found["rows"]) == 20


async def test_what_cannot_be_read_is_said_when_it_is_inspected(imports: Any) -> None:
    broken = b'{"kind":"requirement","title":"T"}\n{"kind":'
    refused = problem(await imports.catalog.request("POST", "/imports/inspect", content=broken), 422)
    assert refused["line"] == 2
    unknown = await imports.catalog.request("POST", "/imports/inspect", content=b"\x00\x01", params={"format": "x"})
    problem(unknown, 415, "unknown_format")

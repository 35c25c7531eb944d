"""ReqIF through the whole of an import: what is planned, what is applied, and what is kept beside the record."""

import io
import zipfile
from typing import Any

import pytest
from reqif_documents import OBJECTS, SAMPLE, TYPES, document, spec_object
from reqif_records import told

from catalog_service.exchange.import_loop import clear_up_schemas
from testing.service import ok

REQIF = {"content-type": "application/x-reqif+xml"}


def sample_of(word: str) -> bytes:
    """Return a file whose identifiers no other test has."""
    sample = SAMPLE.replace(b'"REQ-', f'"{word}-'.encode())
    for name in ("h", "r1", "r2", "t1", "l1", "l2", "n1", "n2", "n3", "s-Doors"):
        for begin, end in ('""', "><"):
            sample = sample.replace(f"{begin}{name}{end}".encode(), f"{begin}{word}_{name}{end}".encode())
    return sample


@pytest.mark.parametrize("form", ["reqif", "reqifz"])
async def test_a_file_is_imported_and_exported_again_as_it_was(imports: Any, form: str) -> None:
    catalog = imports.catalog
    word = catalog.word()
    sample = sample_of(word)
    job = ok(await imports.send_file(sample, REQIF))
    assert job["status"] == "planned", job
    assert {name: of["create"] for name, of in job["counts"].items() if of["create"]} == {
        "requirements": 2,
        "test_cases": 1,
        "links": 1,
        "relations": 1,
    }
    kept = "SELECT FROM reqif_schemas WHERE job_id = %s"
    assert await catalog.rows(kept, job["id"]) == []
    await imports.apply(job)
    assert len(await catalog.rows(kept, job["id"])) == 1
    response = await catalog.request("GET", "/exports", params={"format": form})
    assert response.status_code == 200
    written = response.content
    if form == "reqifz":
        with zipfile.ZipFile(io.BytesIO(written)) as archive:
            written = archive.read("traceline.reqif")
    for name in ("SPEC-OBJECT", "SPEC-RELATION", "SPECIFICATION"):
        before, after = told(sample, name), told(written, name)
        assert {identifier: after.get(identifier) for identifier in before} == before
    again = ok(await imports.send_file(response.content, {"content-type": "application/octet-stream"}, kind="all"))
    assert again["format"] == form
    assert {section: of["create"] for section, of in again["counts"].items()}["links"] == 0
    rows = await imports.rows(again, limit=200)
    assert {row["action"] for row in rows if (row["key"] or "").startswith(word)} == {"unchanged"}


async def test_the_same_file_again_leaves_nothing_more(imports: Any) -> None:
    catalog = imports.catalog
    word = catalog.word()
    sample = sample_of(word).replace(b"view:width='1", f"view:width='{word}".encode())
    for _ in range(2):
        job = await imports.apply(ok(await imports.send_file(sample, REQIF)))
    assert {name: of["unchanged"] for name, of in job["counts"].items() if of["unchanged"]} == {
        "requirements": 2,
        "test_cases": 1,
        "links": 1,
        "relations": 1,
    }
    assert len(await catalog.rows("SELECT FROM reqif_schemas WHERE document::text LIKE %s", f"%{word}%")) == 1
    assert await catalog.rows("SELECT FROM import_documents WHERE job_id = %s", job["id"]) == []


async def test_what_is_kept_of_files_goes_with_the_last_item_from_one(imports: Any) -> None:
    catalog = imports.catalog
    job = await imports.apply(ok(await imports.send_file(sample_of(catalog.word()), REQIF)))
    mine = "SELECT FROM reqif_schemas WHERE job_id = %s"
    await catalog.rows("UPDATE reqif_schemas SET created_at = now() - interval '2 days'")
    await clear_up_schemas(catalog.database)
    assert len(await catalog.rows(mine, job["id"])) == 1
    await catalog.rows("DELETE FROM links")
    for table in ("requirements", "test_cases"):
        await catalog.rows(f"DELETE FROM {table} WHERE custom_metadata -> 'reqif' IS NOT NULL")
    await clear_up_schemas(catalog.database)
    assert await catalog.rows("SELECT FROM reqif_schemas") == []


async def test_a_file_that_is_none_is_answered_with_its_place(imports: Any) -> None:
    response = await imports.send_file(SAMPLE.replace(b"</SPEC-OBJECTS>", b"</SPEC-OBJECT>"), REQIF)
    assert response.status_code == 422
    problem = response.json()
    assert (problem["code"], problem["line"], problem["column"]) == ("unreadable_file", 8, 15)


async def test_a_large_file_shows_its_first_rows_before_it_is_sent_whole(imports: Any) -> None:
    many = OBJECTS.replace("</SPEC-OBJECTS>", "".join(spec_object(f"o{n}", "Heading") for n in range(10_000)))
    large = document(f"{TYPES}{many}</SPEC-OBJECTS>")
    assert len(large) > 1024**2
    for part in (large, large[: 1024**2]):
        found = ok(await imports.catalog.request("POST", "/imports/inspect", content=part, headers=REQIF))
        assert found["format"] == "reqif"
        assert [row["fields"]["title"] for row in found["rows"]] == ["Doors close", "Doors lock safely", "Hold a door"]


async def test_an_object_that_was_known_by_its_identifier_is_found_when_its_file_calls_it_otherwise(
    imports: Any,
) -> None:
    catalog = imports.catalog
    word = catalog.word()
    named = sample_of(word)
    nameless = named.replace(b"ReqIF.ForeignID", b"Number")
    await imports.apply(ok(await imports.send_file(nameless, REQIF)))
    before = await catalog.read(f"/requirements/by-external-id/{word}_r1")
    planned = ok(await imports.send_file(named, REQIF))
    assert planned["counts"]["requirements"]["update"] == 2
    row = next(row for row in await imports.rows(planned, limit=200) if row["item_id"] == before["id"])
    changed = {one["field"]: (one["before"], one["after"]) for one in row["changes"]}
    assert changed["external_id"] == (f"{word}_r1", f"{word}-1")
    await imports.apply(planned)
    assert (await catalog.read(f"/requirements/by-external-id/{word}-1"))["id"] == before["id"]
    again = ok(await imports.send_file(named, REQIF))
    assert [again["counts"][name]["unchanged"] for name in ("requirements", "test_cases", "links")] == [2, 1, 1]

"""ReqIF through the whole of an import: what is planned, what is applied, and what is kept beside the record."""

from datetime import UTC, datetime
from typing import Any

from reqif_documents import SAMPLE
from reqif_records import assert_same

from catalog_service.exchange.reqif.writer import write_reqif
from chassis.testing.service import ok

REQIF = {"content-type": "application/x-reqif+xml"}


async def test_a_file_is_imported_and_written_again_as_it_was(imports: Any) -> None:
    catalog = imports.catalog
    word = catalog.word()
    sample = SAMPLE.replace(b'"REQ-', f'"{word}-'.encode()).replace(b'"t1"', f'"{word}-t1"'.encode())
    sample = sample.replace(b">t1<", f">{word}-t1<".encode())
    job = ok(await imports.send_file(sample, REQIF))
    assert job["status"] == "planned", job
    assert {name: of["create"] for name, of in job["counts"].items() if of["create"]} == {
        "requirements": 2,
        "test_cases": 1,
        "links": 1,
    }
    kept = "SELECT document FROM reqif_schemas WHERE job_id = %s"
    assert await catalog.rows(kept, job["id"]) == []
    await imports.apply(job)
    (schema,) = await catalog.rows(kept, job["id"])
    requirements = (await catalog.read("/requirements", search=word, limit=10))["items"]
    assert {item["external_id"] for item in requirements} == {f"{word}-1", f"{word}-2"}
    (test_case,) = (await catalog.read("/test-cases", search=f"{word}-t1"))["items"]
    links = (await catalog.read("/links", test_case_id=test_case["id"]))["items"]
    items = [*(("requirement", item) for item in requirements), ("test_case", test_case)]
    written = b"".join(write_reqif(items, links, [schema["document"]], exported_at=datetime.now(UTC)))
    assert_same(sample, written)
    again = ok(await imports.send_file(written, REQIF))
    assert again["counts"]["requirements"]["unchanged"] == 2, again
    assert again["counts"]["test_cases"]["unchanged"] == 1, again
    assert again["counts"]["links"]["unchanged"] == 1, again


async def test_the_same_file_again_leaves_nothing_more(imports: Any) -> None:
    catalog = imports.catalog
    word = catalog.word()
    sample = SAMPLE.replace(b'"REQ-', f'"{word}-'.encode()).replace(b'"t1"', f'"{word}-t1"'.encode())
    sample = sample.replace(b"view:width='1", f"view:width='{word}".encode())
    for _ in range(2):
        job = await imports.apply(ok(await imports.send_file(sample.replace(b">t1<", f">{word}-t1<".encode()), REQIF)))
    assert {name: of["unchanged"] for name, of in job["counts"].items() if of["unchanged"]} == {
        "requirements": 2,
        "test_cases": 1,
        "links": 1,
    }
    assert len(await catalog.rows("SELECT FROM reqif_schemas WHERE document::text LIKE %s", f"%{word}%")) == 1
    assert await catalog.rows("SELECT FROM import_documents WHERE job_id = %s", job["id"]) == []


async def test_a_file_that_is_none_is_answered_with_its_place(imports: Any) -> None:
    response = await imports.send_file(SAMPLE.replace(b"</SPEC-OBJECTS>", b"</SPEC-OBJECT>"), REQIF)
    assert response.status_code == 422
    problem = response.json()
    assert (problem["code"], problem["line"], problem["column"]) == ("unreadable_file", 8, 15)

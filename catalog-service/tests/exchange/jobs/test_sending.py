"""A file is sent as it is, read by a worker and planned; nothing of the record changes by that."""

from typing import Any

import pytest

from testing.service import ok, problem


async def test_a_file_is_planned_and_the_record_stays_as_it_is(imports: Any) -> None:
    before = (await imports.catalog.read("/requirements"))["total"]
    job = await imports.plan(imports.requirement(), imports.requirement(), imports.test_case())
    assert (job["format"], job["rows_read"], job["progress"]) == ("ndjson", 3, 0.6)
    assert job["counts"]["requirements"]["create"] == 2
    assert job["counts"]["test_cases"]["create"] == 1
    assert job["summary"]["clean"]
    assert await imports.catalog.read(f"/imports/{job['id']}") == job
    assert (await imports.catalog.read("/requirements"))["total"] == before


async def test_a_form_carries_the_name_of_its_file(imports: Any) -> None:
    files = {"file": ("folder/reqs.ndjson", b'{"kind":"requirement","external_id":"A","title":"T"}\n')}
    job = ok(await imports.catalog.request("POST", "/imports", files=files))
    assert (job["file_name"], job["rows_read"]) == ("reqs.ndjson", 1)


@pytest.mark.parametrize(
    ("files", "status", "code"),
    [
        ({"mapping": ("m", b"{}")}, 422, "invalid_request"),
        ({"file": ("f", b"{}"), "other": ("o", b"x")}, 422, "unknown_field"),
        ({"file": ("f", b"")}, 422, "empty_file"),
        ({"file": ("f", b"{}"), "mapping": ("m", b"{")}, 400, "malformed_json"),
    ],
)
async def test_a_form_that_is_none_is_refused(imports: Any, files: Any, status: int, code: str) -> None:
    problem(await imports.catalog.request("POST", "/imports", files=files), status, code)
    assert await imports.catalog.rows("SELECT FROM import_jobs WHERE size IS NULL") == []


async def test_a_form_that_is_cut_off_is_refused(imports: Any) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n{"kind":'
    headers = {"content-type": "multipart/form-data; boundary=x"}
    problem(await imports.send_file(body, headers), 400, "malformed_form")


async def test_what_cannot_be_read_is_answered_with_its_place(imports: Any) -> None:
    refused = problem(await imports.send_file(b'{"kind":"requirement","title":"T"}\n{"kind":'), 422)
    assert refused["line"] == 2
    failed = await imports.catalog.read(f"/imports/{refused['import_id']}")
    assert (failed["status"], failed["error"]["line"]) == ("failed", 2)


async def test_a_file_of_no_known_format_is_refused(imports: Any) -> None:
    refused = problem(await imports.send_file(b"\x00\x01\x02\x03", {"content-type": "application/x-unknown"}), 415)
    assert refused["code"] == "unknown_format"
    assert "ndjson" in refused["formats"]
    problem(await imports.send(imports.requirement(), format="nonsense"), 415, "unknown_format")


async def test_the_same_key_is_the_same_import(imports: Any) -> None:
    record, key = imports.requirement(), {"idempotency-key": imports.catalog.word()}
    first, second = [ok(await imports.send(record, headers=key)) for _ in range(2)]
    assert first["id"] == second["id"]
    problem(await imports.send(imports.requirement(), headers=key), 422, "idempotency_key_reused")


async def test_who_does_not_wait_gets_the_address(imports: Any) -> None:
    response = await imports.send(imports.requirement(), headers={"prefer": "respond-async"})
    job = ok(response, 202)
    assert response.headers["location"] == f"/api/v1/imports/{job['id']}"


async def test_a_large_file_is_read_by_a_process_of_its_own(imports: Any) -> None:
    records = [imports.requirement(description="word " * 500) for _ in range(600)]
    job = await imports.plan(*records)
    assert job["size"] > 1024**2
    assert job["counts"]["requirements"]["create"] == 600
    assert len(await imports.catalog.rows("SELECT FROM import_chunks WHERE job_id = %s", job["id"])) > 4


async def test_a_viewer_sees_imports_and_sends_none(imports: Any, viewer: Any) -> None:
    job = await imports.plan(imports.requirement())
    assert (await viewer.read("/imports", ids=job["id"]))["items"][0]["id"] == job["id"]
    assert await viewer.read(f"/imports/{job['id']}/rows")
    problem(await viewer.request("POST", "/imports", content=b"{}"), 403)
    problem(await viewer.post(f"/imports/{job['id']}/cancel"), 403)


async def test_a_plan_that_is_cancelled_cannot_be_applied(imports: Any) -> None:
    job = await imports.plan(imports.requirement())
    assert ok(await imports.catalog.post(f"/imports/{job['id']}/cancel"))["status"] == "cancelled"
    problem(await imports.catalog.post(f"/imports/{job['id']}/cancel"), 409, "import_not_cancellable")
    problem(await imports.catalog.post(f"/imports/{job['id']}/apply", {}), 409, "import_not_planned")


async def test_another_plan_than_the_one_that_was_seen_is_not_applied(imports: Any) -> None:
    job = await imports.plan(imports.requirement())
    refused = problem(await imports.catalog.post(f"/imports/{job['id']}/apply", {"expect": "0"}), 409, "record_changed")
    assert refused["counts"] == job["counts"]

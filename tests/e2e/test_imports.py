"""A file becomes the record, and everybody who follows the record has it."""

from typing import Any

import orjson
import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, requirement, test_case
from acceptance.waiting import eventually

NAMES = range(3)


@pytest.fixture
def importer(admin: Traceline) -> Traceline:
    """Somebody who does nothing else."""
    return admin.new_user("reviewer")


def ndjson(*records: Json) -> bytes:
    return b"".join(orjson.dumps(record) + b"\n" for record in records)


def send(user: Traceline, content: bytes, **options: Any) -> Json:
    """Import a file and apply it; return the import."""
    answer = user.post("/imports", content=content, headers={"content-type": "application/x-ndjson"}, params=options)
    assert answer.status_code in {200, 202}, answer.text
    path = f"/imports/{answer.json()['id']}"

    def applied() -> Json | None:
        job = user.read(path)
        assert job["status"] not in {"failed", "planned"}, job
        return job if job["status"] == "applied" else None

    return eventually(applied, "the end of the import", seconds=60)


def test_an_import_is_followed_by_all_who_follow_the_record(importer: Traceline, admin: Traceline) -> None:
    word, said = texts.word(), [texts.words(5) for _ in NAMES]
    requirements = [
        {"kind": "requirement", "external_id": f"R-{word}-{n}"} | requirement(title=said[n], description=said[n])
        for n in NAMES
    ]
    cases = [
        {"kind": "test_case", "external_id": f"T-{word}-{n}"} | test_case(title=said[n], description=said[n])
        for n in NAMES
    ]
    link = {
        "kind": "link",
        "requirement": {"external_id": f"R-{word}-0"},
        "test_case": {"external_id": f"T-{word}-0"},
        "link_type": "verifies",
    }
    file = ndjson(*requirements, *cases, link)
    job = send(importer, file, apply="always")
    assert [job["counts"][of]["create"] for of in ("requirements", "test_cases", "links")] == [3, 3, 1]

    items = {
        name: importer.read(f"/{path}/by-external-id/{name}")
        for path, letter in (("requirements", "R"), ("test-cases", "T"))
        for name in (f"{letter}-{word}-{n}" for n in NAMES)
    }
    ids = {item["id"] for item in items.values()}

    # What is linked is not suggested, the other pairs are.
    def suggested(n: int) -> list[Json]:
        pair = items[f"R-{word}-{n}"]["id"], items[f"T-{word}-{n}"]["id"]
        return importer.suggestions_for(*pair, status="pending")

    eventually(lambda: suggested(1) and suggested(2), "suggestions")
    assert suggested(0) == []

    # One line of activity, one notification of what was created, and each change in the audit log.
    def lines() -> list[Json]:
        return importer.items(
            "/activity", actor=importer.me()["email"], resource_type="import,requirement,test_case,link"
        )

    eventually(lines, "the import in activity")
    (line,) = lines()
    assert (line["action"], line["resource_id"]) == ("import.applied", job["id"])
    assert "created 3 requirements, 3 test cases and 1 link" in line["summary"]
    told = importer.items("/notifications", type="requirement_created,test_case_created")
    assert [(one["type"], one["data"]["import_id"]) for one in told] == [("requirement_created", job["id"])]
    entries = admin.items("/audit-log", actor=importer.me()["email"], action="requirement.created,test_case.created")
    assert {entry["resource_id"] for entry in entries} == ids

    # Search follows a moment later.
    eventually(lambda: importer.read(f"/imports/{job['id']}")["search_ready"], "the search documents")
    found = importer.read("/search", q=said[1].split()[0])["items"]
    assert {hit["id"] for hit in found} == {items[f"R-{word}-1"]["id"], items[f"T-{word}-1"]["id"]}

    # The same file again is nothing but an import.
    head = importer.read("/changes", after=0, limit=1)["head"]
    again = send(importer, file, apply="always")
    assert [again["counts"][of]["unchanged"] for of in ("requirements", "test_cases", "links")] == [3, 3, 1]
    changes = importer.read("/changes", after=head, limit=100)["items"]
    assert [change for change in changes if change["actor"] == importer.me()["email"]] == []

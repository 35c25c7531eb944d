"""What leaves an installation as a file comes into another one as what it was."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, ok
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD

LISTS = ("/requirements", "/test-cases", "/links")
NOT_TAKEN_ALONG = {"id", "position", "version", "created_at", "updated_at", "etag"}
ODD = (
    "'lone' apostrophe", "=1+1; =cmd|' /C calc'!A0", "line\r\nbreak\u2028and\ttab", "控制 \x01\x1f 文字 🚂",
    " surrounded ", "_x0041_ <&>", '"quoted","cells"', "x" * 40_000, "[Long texts: 1]",
)  # fmt: skip


@pytest.fixture(scope="module")
def source(unused: Path) -> Iterator[Traceline]:
    """A record with odd texts, links that are suspect, confirmed, accepted, and items without an external_id."""
    with another(unused) as admin:
        people = [admin.new_user("reviewer") for _ in range(2)]
        for number, text in enumerate(ODD):
            author, module = people[number % 2], texts.word()
            wanted = author.create_requirement(
                description=text, module=module, external_id=f"REQ-{number}", tags=[text[:100], "b,c"],
                custom_metadata={"a": text[:100], "b": [1, 2.5, None]}, source_system="jira",
            )  # fmt: skip
            tested = author.create_test_case(
                description=text, module=module, steps={"1": text[:20_000], "2": "Look"}, preconditions=text[:500],
                test_data={} if number % 2 else {"text": text[:50]}, external_id=f"TC-{number}" if number % 3 else None,
            )  # fmt: skip
            link = author.create_link(wanted["id"], tested["id"], notes=text[:1000], link_type="verifies")
            if number % 2:
                ok(author.patch(f"/requirements/{wanted['id']}", json={"title": f"Another {texts.word()}"}))
            if number % 4 == 1:
                ok(author.post(f"/links/{link['id']}/confirm"))
        yield admin


@contextmanager
def another(unused: Path) -> Iterator[Traceline]:
    """An installation with an empty record."""
    with (
        fresh_folder(unused) as place,
        RunningTraceline(place, AUTO_SUGGESTIONS_ENABLED="false") as running,
        Traceline(running.base_url) as client,
    ):
        yield client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


def exported(client: Traceline, **query: Any) -> tuple[str, bytes]:
    answer = client.get("/exports", params=query)
    assert answer.status_code == 200, answer.text
    return answer.headers["content-disposition"].split('"')[1], answer.content


def imported(client: Traceline, file: tuple[str, bytes], **query: Any) -> Json:
    answer = client.post("/imports", files={"file": file}, params={"apply": "always", **query})
    result = client.wait_for_import(answer)
    assert result["status"] == "applied", result
    assert result["summary"]["problems"] == [], result["summary"]
    return result


def rows(client: Traceline) -> dict[str, list[Json]]:
    return {path: sorted(client.items(path), key=lambda row: str(row["id"])) for path in LISTS}


def test_a_native_export_is_restored_as_it_was(source: Traceline, unused: Path) -> None:
    file = exported(source, format="ndjson")
    with another(unused) as target:
        imported(target, file, mode="restore")
        assert rows(target) == rows(source)
        for path in ("/reports/traceability-matrix", "/reports/gaps", "/reports/coverage-by-module"):
            assert without_times(target.read(path)) == without_times(source.read(path))
        for link in source.items("/links", suspect="true"):
            place = f"/links/{link['id']}"
            assert target.get(place).headers["etag"] == source.get(place).headers["etag"]


def without_times(report: Json) -> Json:
    return {name: value for name, value in report.items() if name not in {"made_at", "generated_at"}}


@pytest.mark.parametrize("form", ["csv", *(pytest.param(form, marks=pytest.mark.long) for form in ("xlsx", "json"))])
def test_a_plain_export_makes_the_same_record_elsewhere(source: Traceline, unused: Path, form: str) -> None:
    file = exported(source, format=form, profile="plain")
    with another(unused) as target:
        first = imported(target, file)
        assert told(target) == told(source)
        again = imported(target, (file[0], exported(target, format=form, profile="native")[1]))
        assert [counts["create"] + counts["update"] for counts in again["counts"].values()] == [0, 0, 0, 0]
        assert first["counts"]["links"]["create"] == len(ODD)


def told(client: Traceline) -> dict[str, list[str]]:
    """Return what everything says but for what each installation makes itself, links by the titles of their ends."""
    ends: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for path in LISTS:
        for row in client.items(path):
            ends[row["id"]] = f"{row.get('title')} {row.get('external_id')}"
            said = {name: value for name, value in row.items() if name not in NOT_TAKEN_ALONG}
            if path == "/links":
                names = ("link_type", "notes", "confidence_score")
                said = {name: row[name] for name in names}
                said["ends"] = [ends[row["requirement_id"]], ends[row["test_case_id"]]]
            found.setdefault(path, []).append(json.dumps(said, sort_keys=True))
    return {path: sorted(said) for path, said in found.items()}

"""The traceability matrix in its four formats, coverage by module, and the search over both kinds of item."""

import csv
import io
import struct

import openpyxl
import pytest

from acceptance import texts
from acceptance.client import Traceline, ok
from acceptance.waiting import eventually

pytestmark = pytest.mark.requirement("TL-REPT-1", "TL-REPT-2", "TL-REPT-3")

MATRIX = "/reports/traceability-matrix"
MEDIA_TYPES = {
    "json": "application/json",
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html",
}


@pytest.fixture(scope="module")
def module(reviewer: Traceline) -> str:
    """A module of its own: one requirement covered, one suspect, one uncovered, and an orphan test case."""
    name = texts.word()
    covered, suspect, _ = (
        reviewer.create_requirement(module=name, title=title, external_id=f"{name}-{title}")
        for title in ("covered", "suspect", "uncovered")
    )
    first, second, _ = (
        reviewer.create_test_case(module=name, title=title, external_id=f"{name}-{title}")
        for title in ("first", "second", "orphan")
    )
    reviewer.create_link(covered["id"], first["id"])
    reviewer.create_link(covered["id"], second["id"])
    reviewer.create_link(suspect["id"], second["id"], link_type="verifies")
    ok(reviewer.patch(f"/requirements/{suspect['id']}", json={"priority": "critical"}))
    return name


def test_the_matrix_sums_up_a_module_and_comes_in_pages(viewer: Traceline, module: str) -> None:
    pages = list(viewer.pages(MATRIX, module=module, limit=2))
    assert [len(page["items"]) for page in pages] == [2, 1]
    assert {
        row["requirement"]["title"]: {cell["title"] for cell in row["test_cases"]}
        for page in pages
        for row in page["items"]
    } == {"covered": {"first", "second"}, "suspect": {"second"}, "uncovered": set()}
    summary = pages[0]["summary"]
    assert (
        summary
        == pages[1]["summary"]
        == summary
        | {
            "total_requirements": 3,
            "covered_requirements": 2,
            "uncovered_requirements": 1,
            "coverage": pytest.approx(2 / 3, abs=1e-4),
            "total_links": 3,
            "suspect_links": 1,
        }
    )
    (row,) = (row for row in viewer.read("/reports/coverage-by-module")["items"] if row["module"] == module)
    assert (row["total_requirements"], row["covered_requirements"]) == (3, 2)


@pytest.mark.parametrize("form", MEDIA_TYPES)
def test_every_format_says_what_it_is_and_shows_everything(viewer: Traceline, module: str, form: str) -> None:
    response = viewer.get(MATRIX, params={"format": form, "module": module, **({} if form == "json" else {"limit": 1})})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].split(";")[0] == MEDIA_TYPES[form]
    if form == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(response.content))
        text = " ".join(str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row)
    else:
        text = response.content.decode("utf-8-sig")
    for title in ("covered", "suspect", "uncovered", "first", "second"):
        assert f"{module}-{title}" in text, title
    if form == "csv":
        assert len({len(row) for row in csv.reader(io.StringIO(text, newline="")) if row}) == 1


def test_the_search_finds_both_kinds_and_shows_where(reviewer: Traceline) -> None:
    word = texts.word()
    requirement = reviewer.create_requirement(description=f"Whenever the {word} moves, the light is on")
    test_case = reviewer.create_test_case(title=f"Move the {word} twice")
    page = reviewer.read("/search", q=word)
    assert page["total"] == 2
    found = [(item["type"], item["id"]) for item in page["items"]]
    assert found == [("test_case", test_case["id"]), ("requirement", requirement["id"])], "title first"
    for item in page["items"]:
        assert word in item["snippet"]
        assert f" {word} " not in item["snippet"], "the word is not highlighted"


def test_the_matrix_shows_a_pair_pending_then_covered_then_suspect(reviewer: Traceline) -> None:
    module = texts.word()

    def cells() -> list[int]:
        response = reviewer.get("/reports/traceability-matrix/compact", params={"module": module})
        assert response.headers["content-type"] == "application/vnd.traceline.matrix"
        rows, columns, count = struct.unpack_from("<3I", response.content, 4)
        assert (rows, columns, len(response.content)) == (1, 1, 16 + 4 * 2 + 5 * count)
        return [*response.content[16 + 4 * 2 + 4 * count :]]

    suggestion = reviewer.suggested_pair(module=module)
    eventually(lambda: cells(), "the pending pair in the matrix", equals=[3])
    requirement = f"/requirements/{suggestion['requirement_id']}"
    expanded = reviewer.read(requirement, expand="coverage")
    assert expanded["coverage"] == {"state": "none", "links": 0, "suspect_links": 0, "pending_suggestions": 1}

    ok(reviewer.post(f"/suggestions/{suggestion['id']}/accept"))
    assert cells() == [1]
    ok(reviewer.patch(requirement, json={"title": texts.words(5)}))
    assert cells() == [2]

"""The traceability matrix in its four formats, and the search over both kinds of item."""

import csv
import io
from html.parser import HTMLParser

import openpyxl
import pytest

from acceptance import texts
from acceptance.client import Json, Traceline, ok, problem

FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1+1"]
FORMATS = ["csv", "xlsx", "html"]


class Module:
    """A module of its own: one requirement covered, one suspect, one uncovered, and an orphan test case."""

    def __init__(self, user: Traceline) -> None:
        self.name = texts.word()
        self.covered, self.suspect, self.uncovered = (
            user.create_requirement(module=self.name, title=title, external_id=f"{self.name}-{title}")
            for title in ("covered", "suspect", "uncovered")
        )
        self.first, self.second, self.orphan = (
            user.create_test_case(module=self.name, title=title, external_id=f"{self.name}-{title}")
            for title in ("first", "second", "orphan")
        )
        user.create_link(self.covered["id"], self.first["id"])
        user.create_link(self.covered["id"], self.second["id"])
        user.create_link(self.suspect["id"], self.second["id"], link_type="verifies")
        ok(user.patch(f"/requirements/{self.suspect['id']}", json={"priority": "critical"}))


@pytest.fixture(scope="module")
def module(reviewer: Traceline) -> Module:
    return Module(reviewer)


def matrix(user: Traceline, file_format: str, **params: object) -> bytes:
    response = user.get("/reports/traceability-matrix", params={"format": file_format} | params)
    assert response.status_code == 200, response.text
    return response.content


def csv_rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def test_the_matrix_sums_up_a_module(viewer: Traceline, module: Module) -> None:
    summary = viewer.read("/reports/traceability-matrix", module=module.name)["summary"]
    assert summary["total_requirements"] == 3
    assert summary["covered_requirements"] == 2
    assert summary["uncovered_requirements"] == 1
    assert summary["coverage"] == pytest.approx(2 / 3, abs=1e-4)
    assert summary["total_links"] == 3
    assert summary["suspect_links"] == 1
    assert set(summary) >= {"total_test_cases", "orphan_test_cases"}


def rows_by_title(items: list[Json]) -> dict[str, set[str]]:
    return {row.get("requirement", row)["title"]: {cell["title"] for cell in row["test_cases"]} for row in items}


def test_the_matrix_has_a_row_a_requirement_with_its_test_cases(viewer: Traceline, module: Module) -> None:
    page = viewer.read("/reports/traceability-matrix", module=module.name, format="json")
    assert page["total"] == 3
    assert rows_by_title(page["items"]) == {
        "covered": {"first", "second"},
        "suspect": {"second"},
        "uncovered": set(),
    }


def test_the_matrix_comes_in_pages_and_its_summary_is_of_everything(viewer: Traceline, module: Module) -> None:
    pages = list(viewer.pages("/reports/traceability-matrix", module=module.name, limit=2))
    assert [len(page["items"]) for page in pages] == [2, 1]
    assert len(rows_by_title(pages[0]["items"]) | rows_by_title(pages[1]["items"])) == 3
    assert pages[0]["summary"] == pages[1]["summary"]


def test_the_matrix_is_filtered_by_status(reviewer: Traceline) -> None:
    name = texts.word()
    reviewer.create_requirement(module=name, title="open")
    reviewer.create_requirement(module=name, title="done", status="closed")
    page = reviewer.read("/reports/traceability-matrix", module=name, status="closed")
    assert set(rows_by_title(page["items"])) == {"done"}
    page = reviewer.read("/reports/traceability-matrix", module=name, status="!closed")
    assert set(rows_by_title(page["items"])) == {"open"}
    problem(reviewer.get("/reports/traceability-matrix", params={"status": "x"}), 422, field="status")


def test_a_format_that_does_not_exist_is_refused(viewer: Traceline) -> None:
    problem(viewer.get("/reports/traceability-matrix", params={"format": "pdf"}), 422, field="format")


@pytest.mark.parametrize(
    ("file_format", "media_type"),
    [
        ("json", "application/json"),
        ("csv", "text/csv"),
        ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("html", "text/html"),
    ],
)
def test_every_format_says_what_it_is(viewer: Traceline, module: Module, file_format: str, media_type: str) -> None:
    params = {"format": file_format, "module": module.name}
    response = viewer.get("/reports/traceability-matrix", params=params)
    assert response.headers["content-type"].split(";")[0] == media_type


@pytest.mark.parametrize("file_format", FORMATS)
def test_the_files_show_everything_whatever_the_page(viewer: Traceline, module: Module, file_format: str) -> None:
    content = matrix(viewer, file_format, module=module.name, limit=1)
    if file_format == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(content))
        text = " ".join(str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row)
    else:
        text = content.decode("utf-8-sig")
    for title in ("covered", "suspect", "uncovered", "first", "second"):
        assert f"{module.name}-{title}" in text, title


def test_the_csv_matrix_has_rows_of_one_width(viewer: Traceline, module: Module) -> None:
    rows = csv_rows(matrix(viewer, "csv", module=module.name))
    assert len({len(row) for row in rows if row}) == 1
    assert len(rows) > 3


@pytest.fixture(scope="module")
def dangerous(reviewer: Traceline) -> Json:
    """A module whose texts would be formulas in a spreadsheet, and markup in a page."""
    name = texts.word()
    for number, formula in enumerate(FORMULAS):
        requirement = reviewer.create_requirement(
            module=name, title=f"{formula} ", external_id=f"{formula}{name}{number}"
        )
        test_case = reviewer.create_test_case(module=name, title=f'{formula}<script>alert("{name}")</script>')
        reviewer.create_link(requirement["id"], test_case["id"])
    return {"module": name}


def test_no_cell_of_the_csv_matrix_is_a_formula(viewer: Traceline, dangerous: Json) -> None:
    rows = csv_rows(matrix(viewer, "csv", **dangerous))
    cells = [cell for row in rows for cell in row]
    assert any("SUM(A1)" in cell for cell in cells)
    for cell in cells:
        number = cell.replace(".", "", 1).lstrip("-").isdigit()
        assert number or not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r")), cell


def test_no_cell_of_the_xlsx_matrix_is_a_formula(viewer: Traceline, dangerous: Json) -> None:
    book = openpyxl.load_workbook(io.BytesIO(matrix(viewer, "xlsx", **dangerous)))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert any("SUM(A1)" in str(cell.value) for cell in cells)
    assert [cell.value for cell in cells if cell.data_type == "f"] == []


def test_no_text_of_the_html_matrix_is_markup(viewer: Traceline, dangerous: Json) -> None:
    class Page(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.text = ""

        def handle_starttag(self, tag: str, _: object) -> None:
            self.tags.add(tag)

        def handle_data(self, data: str) -> None:
            self.text += data

    page = Page()
    page.feed(matrix(viewer, "html", **dangerous).decode())
    assert "table" in page.tags
    assert "script" not in page.tags
    assert f'<script>alert("{dangerous["module"]}")</script>' in page.text


def test_an_unknown_module_has_an_empty_matrix_in_every_format(viewer: Traceline) -> None:
    page = viewer.read("/reports/traceability-matrix", module=texts.word())
    assert (page["items"], page["total"], page["summary"]["total_requirements"]) == ([], 0, 0)
    for file_format in FORMATS:
        assert matrix(viewer, file_format, module=texts.word())


def test_coverage_is_reported_by_module(viewer: Traceline, module: Module) -> None:
    report = viewer.read("/reports/coverage-by-module")
    (row,) = (row for row in report["items"] if row["module"] == module.name)
    assert row["total_requirements"] == 3
    assert row["covered_requirements"] == 2
    assert row["coverage"] == pytest.approx(2 / 3, abs=1e-4)


def test_the_search_finds_both_kinds_and_shows_where(reviewer: Traceline) -> None:
    word = texts.word()
    requirement = reviewer.create_requirement(description=f"Whenever the {word} moves, the light is on")
    test_case = reviewer.create_test_case(title=f"Move the {word} twice")
    page = reviewer.read("/search", q=word)
    assert page["total"] == 2
    assert [item["id"] for item in page["items"]] == [test_case["id"], requirement["id"]], "title first"
    assert [item["type"] for item in page["items"]] == ["test_case", "requirement"]
    for item in page["items"]:
        assert word in item["snippet"]
        assert f" {word} " not in item["snippet"], "the word is not highlighted"


def test_the_search_can_be_for_one_kind(reviewer: Traceline) -> None:
    word = texts.word()
    requirement = reviewer.create_requirement(title=word)
    test_case = reviewer.create_test_case(title=word)

    def found(kind: str) -> list[str]:
        return [item["id"] for item in reviewer.items("/search", q=word, type=kind)]

    assert found("requirement") == [requirement["id"]]
    assert found("test_case") == [test_case["id"]]
    problem(reviewer.get("/search", params={"q": word, "type": "link"}), 422, field="type")
    problem(reviewer.get("/search"), 422, field="q")


def test_a_snippet_highlights_words_but_brings_no_markup_of_the_text(reviewer: Traceline) -> None:
    word = texts.word()
    reviewer.create_requirement(description=f"<script>alert(1)</script> the {word} <b>moves</b>")
    (item,) = reviewer.items("/search", q=word)
    assert "<script" not in item["snippet"]


@pytest.mark.parametrize("query", ["'", '"', "(", "& | !", "\\", "%", "a:*", "<->", "the", "🚪"])
def test_the_search_takes_any_text(viewer: Traceline, query: str) -> None:
    viewer.read("/search", q=query)

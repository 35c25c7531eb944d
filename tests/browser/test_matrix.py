"""The matrix: what is painted is what the API says, keys reach every cell, and all of it can be read."""

import re
import struct
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from acceptance.client import Traceline
from acceptance.waiting import eventually

from . import axe
from .session import PageOf

MODULE = "Matrix screen"
HERE = {"module": MODULE}
SIZE = 20
"""Pixels of a cell."""
WORDS = ["", "Covered", "Suspect", "Pending review"]
COLOURS = """() => ["--covered", "--suspect", "--pending"].map(property => {
    const probe = document.createElement("span");
    probe.style.setProperty("color", `var(${property})`);
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found.match(/[0-9]+/g).map(Number);
})"""
PAINTED = """(canvas, [size, rows, columns]) => {
    const [left, top] = canvas.dataset.origin.split(" ").map(Number);
    const {data, width} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const at = (row, column) => 4 * ((top + (row + 0.5) * size) * width + left + (column + 0.5) * size);
    return Array.from({length: rows}, (_, row) =>
        Array.from({length: columns}, (_, column) => [...data.slice(at(row, column), at(row, column) + 3)]));
}"""


@pytest.fixture(scope="package")
def states(reviewer: Traceline) -> list[list[int]]:
    """The state of each cell of a module with six requirements and eight test cases, as the API has it."""
    suggestion = reviewer.suggested_pair(module=MODULE)
    requirements = [reviewer.create_requirement(module=MODULE, external_id=f"MX-{n}") for n in range(5)]
    test_cases = [reviewer.create_test_case(module=MODULE, external_id=f"MT-{n}") for n in range(7)]
    for row, column in ((0, 0), (0, 3), (1, 1), (3, 3), (3, 6)):
        reviewer.create_link(requirements[row]["id"], test_cases[column]["id"])
    reviewer.create_link(suggestion["requirement_id"], test_cases[6]["id"])
    reviewer.patch(f"/requirements/{requirements[3]['id']}", json={"title": "Says something else now"})
    return eventually(lambda: read_states(reviewer), "the pair that waits for a review")


def read_states(reviewer: Traceline) -> list[list[int]] | None:
    document = reviewer.get("/reports/traceability-matrix/compact", params=HERE).content
    _, rows, columns, cells = struct.unpack_from("<4s3I", document)
    offsets = struct.unpack_from(f"<{rows + 1}I", document, 16)
    places = struct.unpack_from(f"<{cells}I", document, 16 + 4 * (rows + 1))
    found = [[0] * columns for _ in range(rows)]
    for row in range(rows):
        for at in range(offsets[row], offsets[row + 1]):
            found[row][places[at]] = document[len(document) - cells + at]
    return found if any(3 in row for row in found) else None


def address(**query: Any) -> str:
    return f"/matrix?{urlencode({'at': '0,0', 'zoom': SIZE, **HERE, **query})}"


def labels(reviewer: Traceline, axis: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = reviewer.read("/reports/traceability-matrix/axes", axis=axis, **HERE)["items"]
    return items


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_each_cell_is_painted_as_the_api_has_it(page_of: PageOf, states: list[list[int]], theme: str) -> None:
    page = page_of("viewer", address(), theme=theme).page
    expect(page.locator("main p[role=status]")).to_contain_text("MT-0")
    colours = [None, *page.evaluate(COLOURS)]
    painted = page.locator("canvas").evaluate(PAINTED, [SIZE, len(states), len(states[0])])
    seen = [[colours.index(colour) if colour in colours else 0 for colour in row] for row in painted]
    assert seen == states
    assert {state for row in states for state in row} == {0, 1, 2, 3}
    assert axe.violations(page) == []


def test_keys_reach_the_last_cell_and_enter_opens_it(
    page_of: PageOf, reviewer: Traceline, states: list[list[int]]
) -> None:
    page = page_of("viewer", address()).page
    status = page.locator("main p[role=status]")
    expect(status).to_contain_text("MT-0")
    for key, count in (("ArrowDown", len(states) + 1), ("ArrowRight", len(states[0]) + 1)):
        for _ in range(count):
            page.keyboard.press(key)
    last = labels(reviewer, "row")[-1]["title"], labels(reviewer, "column")[-1]["title"]
    expect(status).to_contain_text(last[0])
    expect(status).to_contain_text(last[1])
    expect(status).to_contain_text(WORDS[states[-1][-1]] or "No link")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Cell")
    expect(panel.get_by_text("Review this pair")).to_be_visible()
    panel.get_by_role("link", name="Open requirement").click()
    expect(page).to_have_url(re.compile(rf"/requirements/{labels(reviewer, 'row')[-1]['id']}$"))


@pytest.mark.long
def test_brackets_go_to_gaps_and_braces_to_suspect_links(
    page_of: PageOf, reviewer: Traceline, states: list[list[int]]
) -> None:
    page = page_of("viewer", address()).page
    rows, columns = labels(reviewer, "row"), labels(reviewer, "column")
    gaps = [row for row, cells in enumerate(states) if not {1, 2} & set(cells)]
    suspects = [(row, column) for row, cells in enumerate(states) for column, cell in enumerate(cells) if cell == 2]
    status = page.locator("main p[role=status]")
    expect(status).to_contain_text("MX-0")
    for row in [*gaps, gaps[0]]:
        page.keyboard.press("]")
        expect(status).to_contain_text(rows[row]["title"])
    page.keyboard.press("Shift+Home")
    for row, column in [*suspects, suspects[0]]:
        page.keyboard.press("}")
        expect(status).to_contain_text(f"{rows[row]['title']} · ")
        expect(status).to_contain_text(f"{columns[column]['title']}: Suspect")


@pytest.mark.long
def test_the_table_says_the_same(page_of: PageOf, reviewer: Traceline, states: list[list[int]]) -> None:
    page = page_of("viewer", address()).page
    expect(page.locator("main p[role=status]")).to_contain_text("MX-0")
    page.keyboard.press("t")
    table = page.get_by_role("table")
    expect(table).to_contain_text("Suspect")
    cells = [[cell.inner_text()[2:] for cell in row.locator("td").all()] for row in table.locator("tbody tr").all()]
    assert cells == [[WORDS[state] for state in row] for row in states]
    titles = [item["title"] for item in labels(reviewer, "row")]
    assert all(
        header.endswith(title)
        for header, title in zip(table.locator("tbody th").all_inner_texts(), titles, strict=True)
    )
    assert axe.violations(page) == []


@pytest.mark.long
def test_modules_lead_to_their_cells(page_of: PageOf, reviewer: Traceline, states: list[list[int]]) -> None:
    page = page_of("viewer", "/matrix", theme="dark").page
    cell = page.get_by_role("link", name=f"{MODULE}, {MODULE}: ")
    links = sum(state in {1, 2} for row in states for state in row)
    suspect = sum(state == 2 for row in states for state in row)
    expect(cell).to_have_attribute("title", f"{links} links, {suspect} suspect, 1 pending")
    assert axe.violations(page) == []
    cell.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("application")).to_have_attribute(
        "aria-label", f"Matrix of {len(states)} requirements and {len(states[0])} test cases"
    )
    expect(page.locator("main p[role=status]")).to_contain_text("MX-0")


@pytest.mark.long
def test_what_changes_is_painted_anew(page_of: PageOf, reviewer: Traceline, states: list[list[int]]) -> None:
    page = page_of("reviewer", address()).page
    status = page.locator("main p[role=status]")
    expect(status).to_contain_text("MT-0")
    row, column = labels(reviewer, "row")[2], labels(reviewer, "column")[5]
    page.keyboard.press("Shift+Home")
    for key in ["ArrowDown"] * 2 + ["ArrowRight"] * 5:
        page.keyboard.press(key)
    expect(status).to_contain_text("No link")
    link = reviewer.create_link(row["id"], column["id"])
    expect(status).to_contain_text("Covered")
    reviewer.delete(f"/links/{link['id']}")
    expect(status).to_contain_text("No link")


@pytest.mark.long
def test_the_matrix_is_exported_as_it_is_narrowed(page_of: PageOf, states: list[list[int]]) -> None:
    visit = page_of("viewer", address())
    for name in ("CSV", "XLSX", "HTML"):
        place = visit.page.get_by_role("link", name=f"Export {name}").get_attribute("href")
        answer = visit.context.request.get(place)
        assert answer.ok
        assert f'.{name.lower()}"' in answer.headers["content-disposition"]
    rows = visit.context.request.get(place.replace("html", "csv")).text().splitlines()
    assert sum("MX-" in row for row in rows) >= len(states) - 1


@pytest.mark.long
@pytest.mark.parametrize("path", ["/matrix", address(), address(**{"as": "table"})])
def test_a_narrow_window_has_no_sideways_scroll(page_of: PageOf, states: list[list[int]], path: str) -> None:
    page = page_of("viewer", path, width=320).page
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main table, main canvas").first).to_be_visible()
    expect(page.locator("main th:empty, main th > span:empty")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert axe.violations(page) == []

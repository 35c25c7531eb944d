"""The matrix as CSV, Excel workbook and HTML page: complete, of one moment, and harmless whatever the texts."""

import asyncio
import csv
import io
import os
import tempfile
import threading
from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import openpyxl
import psycopg
import pytest

from catalog_service.documents import DocumentResponse
from catalog_service.reports import export
from catalog_service.reports.formats import MatrixDocument
from catalog_service.reports.formats.csv_format import CsvMatrix
from catalog_service.reports.formats.xlsx_format import XlsxMatrix
from catalog_service.reports.front import Front
from catalog_service.reports.scope import About, Scope
from chassis.web.conditions import Conditions

HOSTILE = [
    "=1+1",
    '=HYPERLINK("http://evil.example","click")',
    "+49 30 1234",
    "-2 degrees",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "<script>alert(1)</script>",
    "</title></style><img src=x onerror=alert(1)>",
    'quoted "text", with, commas; and\r\nline\nbreaks',
    "' OR 1=1 --",
    "https://evil.example/?q=1",
    "mailto:somebody@example.test",
    "{=SUM(A1)}",
    "<r><t>markup of the format</t></r>",
    "<r></c></row></sheetData></r>",
    "&lt;b&gt; & <b>",
    "_x0041_ and \x01\x0b\x1f control characters",
    "\ufeff byte order mark, \ufffe and \uffff",
    "漢字 🚆 Ünïcode \u202e right to left",
    "007",
    "1e5",
    "TRUE",
]

ELEMENTS = "html head meta title style body h1 dl div dt dd table thead tr th tbody td span"


WHOLE = Scope(Conditions(), Conditions(), {}, None)


async def fetch(client: httpx.AsyncClient, matrix_format: str, **query: Any) -> httpx.Response:
    response = await client.get("/api/v1/reports/traceability-matrix", params={"format": matrix_format, **query})
    assert response.status_code == 200, response.text
    return response


async def made(record: Any, document: type[MatrixDocument]) -> bytes:
    with tempfile.TemporaryFile() as file:
        async for _ in export.make(record.database, WHOLE, document, Front(datetime.now(UTC)), file):
            pass
        file.seek(0)
        return file.read()


def read_csv(content: bytes) -> list[dict[str, str]]:
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(content[3:].decode(), newline=""), strict=True))


def read_sheet(content: bytes, name: str = "Matrix") -> list[tuple[Any, ...]]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    sheet = book[name]
    assert not any(cell.data_type == "f" or cell.hyperlink for row in sheet.iter_rows() for cell in row)
    return [tuple(cell.value for cell in row) for row in sheet.iter_rows()]


class Page(HTMLParser):
    """What a browser sees: the elements with their attributes, and the texts of cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.cells: list[str] = []
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "td":
            self.cells.append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag != "td"

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.cells[-1] += data


def hostile_record(record: Any) -> list[UUID]:
    """Note a requirement and a linked test case a hostile text; return the requirements, in the matrix's order."""
    requirements = []
    for number, text in enumerate(HOSTILE):
        requirements.append(record.requirement(title=text, external_id=f"R{number:02}", module=text[:100], version=1))
        record.link(requirements[-1], record.test_case(title=text, external_id=text[:100]))
    return requirements


async def test_documents_say_who_accepted_and_confirmed_a_link_unless_people_are_hidden(
    record: Any, client: httpx.AsyncClient
) -> None:
    moment = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
    record.link(
        record.requirement(),
        record.test_case(),
        link_source="ai_confirmed",
        confidence_score=0.734,
        notes="Same words",
        created_by="kim@example.test",
        confirmed_at=moment,
        confirmed_by="erased-7@erased.invalid",
    )
    await record.save()

    (row,) = read_csv((await fetch(client, "csv")).content)
    assert (row["linked_by"], row["link_notes"]) == ("kim@example.test", "Same words")
    assert (row["confirmed_by"], row["confirmed_at"][:10]) == ("erased-7@erased.invalid", "2026-03-02")
    said = (await fetch(client, "html")).text
    assert "accepted by kim@example.test on 2025-01-01, suggested with a score of 0.73" in said
    assert "confirmed by Erased person 7 on 2026-03-02 for versions 2 and 2" in said

    (hidden,) = read_csv((await fetch(client, "csv", people="hide")).content)
    assert not {"linked_by", "confirmed_by"} & hidden.keys()
    assert hidden["confirmed_at"] == row["confirmed_at"]
    anonymous = (await fetch(client, "html", people="hide")).text
    assert "accepted on 2025-01-01" in anonymous
    assert "kim@example.test" not in anonymous
    as_json = (await client.get("/api/v1/reports/traceability-matrix", params={"people": "hide"})).text
    assert "@" not in as_json


async def test_the_csv_holds_each_pair_and_each_uncovered_requirement(record: Any, client: httpx.AsyncClient) -> None:
    first = record.requirement(external_id="A-1", module="accounts")
    second = record.requirement(external_id="A-2", module="accounts")
    test_cases = [record.test_case(external_id=f"TC-{number}") for number in range(2)]
    record.link(first, test_cases[0], confidence_score=0.5)
    record.link(first, test_cases[1], suspect=True)
    await record.save()

    response = await fetch(client, "csv", limit=1)

    assert response.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    disposition = response.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="traceability-matrix-')
    assert disposition.endswith('.csv"')
    rows = read_csv(response.content)
    assert [
        (row["requirement_id"], row["test_case_external_id"], row["confidence_score"], row["suspect"]) for row in rows
    ] == [
        (str(first), "TC-0", "0.5", "false"),
        (str(first), "TC-1", "1", "true"),
        (str(second), "", "", ""),
    ]
    assert [row["covered"] for row in rows] == ["true", "true", "false"]
    assert response.content.count(b"\r\n") == response.content.count(b"\n") == 4


async def test_no_cell_of_the_csv_is_a_formula_and_every_text_is_there(record: Any, client: httpx.AsyncClient) -> None:
    hostile_record(record)
    await record.save()

    content = (await fetch(client, "csv")).content
    by_requirement = {row["requirement_external_id"]: row for row in read_csv(content)}

    for number, text in enumerate(HOSTILE):
        row = by_requirement[f"R{number:02}"]
        for cell in (row["requirement_title"], row["module"], row["test_case_title"]):
            assert cell.replace("'", "") == text.replace("'", "")
            assert cell[0] not in "=+-@\t\r"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("\u00a0@SUM(A1)", "'\u00a0@SUM(A1)"),
        ("\ufeff+1", "'\ufeff+1"),
        ('"=1+1"', '\'"=1+1"'),
        ("'=1+1", "''=1+1"),
        ("\uff1d1\uff0b1", "'\uff1d1\uff0b1"),
        ("\nfirst", "\nfirst"),
        ("\n=1+1", "'\n'=1+1"),
        ("two\r\n=1+1", "two\r'\n'=1+1"),
        ("a;=1+1", "a;'=1+1"),
        ('a; "-1', "a;' \"-1"),
        ("a\t@b", "a\t'@b"),
        ("a=b, c-d @ e;f", "a=b, c-d @ e;f"),
    ],
)
def test_no_program_finds_the_beginning_of_a_formula_in_a_cell_of_the_csv(text: str, cell: str) -> None:
    requirement = dict.fromkeys(("id", "external_id", "module", "type", "priority", "status", "version"))
    file = io.BytesIO()
    document = CsvMatrix(file, "", About({}, Front(datetime.now(UTC))))
    document.write([{**requirement, "title": text, "test_cases": []}])
    (row,) = read_csv(file.getvalue())
    assert row["requirement_title"] == cell


async def test_every_text_of_the_workbook_is_a_text(record: Any, client: httpx.AsyncClient) -> None:
    hostile_record(record)
    uncovered = record.requirement(external_id="Z")
    await record.save()

    response = await fetch(client, "xlsx")

    assert response.headers["content-type"].endswith("spreadsheetml.sheet")
    assert response.headers["content-disposition"].endswith('.xlsx"')
    head, *rows = read_sheet(response.content)
    assert head[:2] == ("Requirement external ID", "Requirement title")
    by_requirement = {row[0]: row for row in rows}
    for number, text in enumerate(HOSTILE):
        row = by_requirement[f"R{number:02}"]
        # openpyxl gives _xHHHH_ as it stands in the file, and reads line ends as XML does.
        plain = text.isprintable() and "_x" not in text
        for cell in (row[1], row[2], row[9]):
            assert isinstance(cell, str)
            if plain:
                assert cell.rstrip() == text
    assert by_requirement["Z"][7:] == (False, *[None] * 14, str(uncovered), *[None] * 3)
    figures = dict(row[:2] for row in read_sheet(response.content, "Summary"))
    assert figures["Total requirements"] == len(HOSTILE) + 1
    assert figures["Coverage"] == pytest.approx(len(HOSTILE) / (len(HOSTILE) + 1))


def test_a_workbook_goes_on_in_another_sheet_where_one_is_full(tmp_path: Path) -> None:
    requirement = dict.fromkeys(("external_id", "module", "type", "priority", "status", "version"))
    file = io.BytesIO()
    workbook = XlsxMatrix(file, str(tmp_path), About({}, Front(datetime.now(UTC))), last_row=2)
    for number in range(5):
        workbook.write([{**requirement, "id": number, "title": f"Item {number}", "test_cases": []}])
    workbook.finish()

    titles = [[row[1] for row in read_sheet(file.getvalue(), name)[1:]] for name in ("Matrix", "Matrix 2", "Matrix 3")]
    assert titles == [["Item 0", "Item 1"], ["Item 2", "Item 3"], ["Item 4"]]


async def test_the_page_shows_every_text_and_runs_none(record: Any, client: httpx.AsyncClient) -> None:
    hostile_record(record)
    record.requirement(title="Nobody tests this")
    await record.save()

    response = await fetch(client, "html")

    page = Page(response.text)
    assert set(page.tags) == set(ELEMENTS.split())
    assert not [name for name in page.attributes if name.startswith("on") or name in {"src", "href", "style"}]
    for text in HOSTILE:
        # An HTML parser reads every line end as \n.
        assert page.cells.count(text) >= 2 or "\r" in text
    assert "Nobody tests this" in page.cells
    assert "no test case" in page.cells
    assert f"{len(HOSTILE) / (len(HOSTILE) + 1):.1%}" in response.text


async def test_the_page_allows_itself_nothing_but_its_own_style(record: Any, client: httpx.AsyncClient) -> None:
    response = await fetch(client, "html")
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert f'content="{policy.partition("; frame-ancestors")[0]}"' in response.text
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("matrix_format", ["csv", "xlsx", "html"])
async def test_a_document_of_an_empty_record_is_whole(
    record: Any, client: httpx.AsyncClient, matrix_format: str
) -> None:
    content = (await fetch(client, matrix_format)).content
    if matrix_format == "csv":
        assert read_csv(content) == []
    elif matrix_format == "xlsx":
        assert len(read_sheet(content)) == 1
    else:
        assert content.endswith(b"</html>\n")


async def test_the_documents_hold_all_of_2000_requirements(record: Any, client: httpx.AsyncClient) -> None:
    requirements = [
        record.requirement(external_id=f"R-{number:04}", status="draft" if number % 2 else "tested")
        for number in range(2000)
    ]
    test_cases = [record.test_case() for _ in range(100)]
    for number, requirement in enumerate(requirements[:1600]):
        record.link(requirement, test_cases[number % 100])
        record.link(requirement, test_cases[(number + 1) % 100])
    await record.save()
    everything = [str(requirement) for requirement in requirements]

    rows = read_csv((await fetch(client, "csv")).content)
    assert list(dict.fromkeys(row["requirement_id"] for row in rows)) == everything
    assert len(rows) == 1600 * 2 + 400
    drafts = read_csv((await fetch(client, "csv", status="draft")).content)
    assert list(dict.fromkeys(row["requirement_id"] for row in drafts)) == everything[1::2]

    sheet = openpyxl.load_workbook(io.BytesIO((await fetch(client, "xlsx")).content), read_only=True)["Matrix"]
    assert sum(1 for _ in sheet.iter_rows(min_row=2, values_only=True)) == len(rows)
    assert (await fetch(client, "html")).text.count("<tbody>") == 2000


async def test_a_document_shows_one_moment_whatever_changes_while_it_is_made(record: Any) -> None:
    test_case = record.test_case()
    for number in range(1200):
        record.link(record.requirement(external_id=f"R-{number:04}"), test_case)
    await record.save()

    class Disturbed(CsvMatrix):
        """While the first rows are written, somebody deletes everything."""

        def write(self, rows: Any) -> None:
            with psycopg.connect(record.database.url) as connection:
                connection.execute("DELETE FROM test_cases")
                connection.execute("DELETE FROM requirements")
            super().write(rows)

    rows = read_csv(await made(record, Disturbed))
    assert len(rows) == 1200
    assert all(row["covered"] == "true" for row in rows)
    assert read_csv(await made(record, CsvMatrix)) == []


async def test_a_document_that_cannot_be_finished_leaves_nothing_behind(
    record: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.requirement()
    await record.save()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    class Broken(XlsxMatrix):
        def write(self, rows: Any) -> None:
            super().write(rows)
            raise OSError("no space left on device")

    for _ in range(5):
        with pytest.raises(OSError, match="no space"):
            await made(record, Broken)
    assert os.listdir(tmp_path) == []


class Reader:
    """Takes a document as the server passes it on."""

    def __init__(self, record: Any, document: type[MatrixDocument], user: int | None = None) -> None:
        making = partial(export.make, record.database, WHOLE, document, Front(datetime.now(UTC)))
        self._response = DocumentResponse(making, document.media_type, {}, reader=user)
        self.messages: list[Any] = []
        self.came = asyncio.Event()
        self.takes = asyncio.Event()
        self.takes.set()

    async def read(self) -> None:
        await self._response({"type": "http"}, self._receive, self._send)

    @property
    def content(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)

    @property
    def is_whole(self) -> bool:
        return bool(self.messages) and not self.messages[-1].get("more_body", False)

    async def _receive(self) -> Any:
        raise AssertionError("a document asks nothing")

    async def _send(self, message: Any) -> None:
        await self.takes.wait()
        self.messages.append(message)
        self.came.set()


async def test_a_document_is_sent_while_it_is_made(record: Any) -> None:
    for number in range(1200):
        record.requirement(external_id=f"R-{number:04}")
    await record.save()
    go_on = threading.Event()

    class Held(CsvMatrix):
        held = False

        def write(self, rows: Any) -> None:
            if self.held:
                go_on.wait(30)
            self.held = True
            super().write(rows)

    reader = Reader(record, Held)
    async with asyncio.timeout(120):
        reading = asyncio.create_task(reader.read())
        while reader.content.count(b"\r\n") != 501:
            await reader.came.wait()
            reader.came.clear()
        assert not reader.is_whole
        go_on.set()
        await reading
    assert reader.is_whole
    assert [row["requirement_external_id"] for row in read_csv(reader.content)] == [f"R-{n:04}" for n in range(1200)]


async def test_a_document_is_made_without_waiting_for_its_reader(record: Any) -> None:
    for number in range(1200):
        record.requirement(external_id=f"R-{number:04}")
    await record.save()
    finished = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Watched(CsvMatrix):
        def finish(self) -> None:
            super().finish()
            loop.call_soon_threadsafe(finished.set)

    reader = Reader(record, Watched)
    reader.takes.clear()
    async with asyncio.timeout(120):
        reading = asyncio.create_task(reader.read())
        await finished.wait()
        assert record.database.use().available == record.database.use().size
        assert reader.messages == []
        reader.takes.set()
        await reading
    assert len(read_csv(reader.content)) == 1200


@pytest.mark.parametrize(("requirements", "sent"), [(10, 0), (1200, 501)])
async def test_of_a_document_that_fails_nobody_takes_a_part_for_the_whole(
    record: Any, requirements: int, sent: int
) -> None:
    for number in range(requirements):
        record.requirement(external_id=f"R-{number:04}")
    await record.save()

    class Broken(CsvMatrix):
        def write(self, rows: Any) -> None:
            if len(rows) < 500:
                raise OSError("no space left on device")
            super().write(rows)

    reader = Reader(record, Broken)
    with pytest.raises(OSError, match="no space"):
        await reader.read()
    assert not reader.is_whole
    assert (reader.messages == []) is (sent == 0), "without a first byte, the error is answered as a problem"
    assert reader.content.count(b"\r\n") >= sent


async def test_a_user_gets_one_document_at_a_time(record: Any, client: Any) -> None:
    record.requirement(external_id="R-1")
    await record.save()
    path = "/reports/traceability-matrix"
    slow = Reader(record, CsvMatrix, user=client.caller.id)
    slow.takes.clear()
    reading = asyncio.create_task(slow.read())
    await asyncio.sleep(0)  # it has begun, and goes on when it is taken

    refused = await client.get(path, params={"format": "csv"})
    assert (refused.status_code, refused.json()["code"]) == (429, "document_under_way")
    assert int(refused.headers["retry-after"]) > 0
    other = Reader(record, CsvMatrix, user=client.caller.id + 1)
    await other.read()
    assert other.is_whole, "one user does not hold up another"

    slow.takes.set()
    await reading
    assert len(read_csv(slow.content)) == 1
    assert len(read_csv((await fetch(client, "csv")).content)) == 1


async def test_documents_of_several_readers_are_all_made_at_once(record: Any) -> None:
    record.requirement(external_id="R-1")
    await record.save()
    readers = [Reader(record, CsvMatrix) for _ in range(12)]
    await asyncio.gather(*(reader.read() for reader in readers))
    assert {len(read_csv(reader.content)) for reader in readers} == {1}


async def test_every_document_says_what_it_is_of_and_lists_the_orphans_of_its_modules(
    record: Any, client: httpx.AsyncClient
) -> None:
    record.link(record.requirement(module="Doors", status="tested"), record.test_case(module="Doors"))
    record.requirement(module="Doors", status="draft")
    record.test_case(external_id="TC-ALONE", title="Nobody asked for it", module="Doors")
    record.test_case(external_id="TC-ELSEWHERE", module="Lifts")
    await record.save()
    query = {"module": "Doors", "status": "tested"}

    rows = read_csv((await fetch(client, "csv", **query)).content)
    assert [(row["requirement_id"], row["test_case_external_id"], row["module"]) for row in rows[1:]] == [
        ("", "TC-ALONE", "Doors")
    ]

    book = (await fetch(client, "xlsx", **query)).content
    assert [row[0] for row in read_sheet(book, "Orphan test cases")] == ["External ID", "TC-ALONE"]
    summary = dict(row[:2] for row in read_sheet(book, "Summary"))
    assert (summary["Filters"], summary["Total test cases"]) == ("status: tested; module: Doors", 2)
    workbook = openpyxl.load_workbook(io.BytesIO(book))
    assert workbook.sheetnames == ["Summary", "Matrix", "Orphan test cases"]
    assert workbook["Matrix"].auto_filter.ref == "A1:Z2"
    hidden = [sheet.max_column for sheet in workbook if sheet.column_dimensions["Z"].hidden]
    assert hidden == [26], "ids stand at the end, where nobody has to read them"

    first, columns, *_ = (await fetch(client, "csv", header="filters", **query)).content[3:].decode().split("\r\n")
    assert first.startswith("# Project: MAIN. Made: 20")
    assert "Filters: status: tested; module: Doors. Gate: not ready to release: There is no run" in first
    assert columns.split(",") == [*rows[0]]

    page = (await fetch(client, "html", **query)).text
    assert "<dd>status: tested; module: Doors</dd>" in page
    assert "Test cases without a requirement" in page
    assert ("TC-ALONE" in page, "TC-ELSEWHERE" in page) == (True, False)


async def test_a_report_has_the_gaps_alone_or_what_is_covered_alone(record: Any, client: httpx.AsyncClient) -> None:
    record.link(record.requirement(external_id="R-1", module="A"), record.test_case(external_id="T-1"))
    record.requirement(external_id="R-2", module="B")
    record.test_case(external_id="T-2")
    await record.save()
    ids = ("requirement_external_id", "test_case_external_id")
    for rows, expected in (
        ("all", [("R-1", "T-1"), ("R-2", ""), ("", "T-2")]),
        ("gaps", [("R-2", ""), ("", "T-2")]),
        ("covered", [("R-1", "T-1")]),
    ):
        lines = read_csv((await fetch(client, "csv", rows=rows)).content)
        assert [tuple(line[name] for name in ids) for line in lines] == expected
        matrix = (await client.get("/api/v1/reports/traceability-matrix", params={"rows": rows})).json()
        assert len(matrix["items"]) == matrix["total"] == len({line for line, _ in expected if line})
        orphans = matrix["orphan_test_cases"]
        assert len(orphans["items"]) == orphans["total"] == (rows != "covered")
        assert matrix["summary"]["total_requirements"] == 2, "the figures are those of all"
    page = (await fetch(client, "html")).text
    assert page.index("Without a test case") < page.index("R-2") < page.index("R-1"), "what is missing comes first"


async def test_the_front_of_a_document_says_who_made_it_unless_people_are_hidden(client: httpx.AsyncClient) -> None:
    shown = (await fetch(client, "html")).text
    assert f" UTC by {client.caller.email}</dd>" in shown  # type: ignore[attr-defined]
    assert "<dt>Gate</dt><dd>not ready to release: " in shown
    assert "@" not in (await fetch(client, "html", people="hide")).text.partition("<body>")[2]


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("text/csv", "text/csv"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/*;q=0.5, text/csv;q=0.1, application/json;q=0.2", "text/html"),
        ("image/png", "application/json"),
        ("text/csv;q=nonsense", "application/json"),
    ],
)
async def test_accept_chooses_the_form(client: httpx.AsyncClient, accept: str, media_type: str) -> None:
    response = await client.get("/api/v1/reports/traceability-matrix", headers={"Accept": accept})
    assert response.headers["content-type"].split(";")[0] == media_type
    assert response.headers["vary"] == "Accept"
    chosen = await client.get("/api/v1/reports/traceability-matrix?format=csv", headers={"Accept": accept})
    assert chosen.headers["content-type"].startswith("text/csv")

"""Archives that are looked at before they are imported: by a process of its own, within bounds."""

import random
import zipfile
from collections import Counter
from io import BytesIO

import openpyxl
import pytest

from catalog_service.exchange.inspection.service import Look, described, inspect
from chassis.core.problems import Invalid, UnsupportedMediaType

FILLING = random.Random(1).randbytes(20_000)
"""So much that a process of its own looks at it."""


def packed(**files: str) -> BytesIO:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("filling.bin", FILLING)
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return file


def look(
    *,
    format_name: str = "auto",
    kind: str = "all",
    file_name: str | None = None,
    is_whole: bool = True,
    memory_mib: int = 512,
) -> Look:
    return Look(
        format=format_name,
        kind=kind,
        encoding=None,
        file_name=file_name,
        media_type=None,
        source_system=None,
        mapping=None,
        sheet=None,
        header_row=None,
        delimiter=None,
        source_url_schemes=(),
        is_whole=is_whole,
        memory_bytes=memory_mib * 1024**2,
    )


async def test_what_a_process_of_its_own_says_is_what_a_thread_would_say() -> None:
    file = packed(a_feature="Feature: Doors\n  Scenario: Close\n    Given a door\n")
    found = await inspect(file, look())
    assert found == described(file, look())
    assert [row["fields"]["title"] for row in found["rows"]] == ["Close"]


async def test_an_archive_that_is_none_of_what_it_says_is_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedMediaType) as unknown:
        await inspect(packed(a_txt="nothing"), look())
    assert unknown.value.code == "unknown_format"
    with pytest.raises(Invalid, match=r"no file that ends in \.feature"):
        await inspect(packed(a_txt="nothing"), look(format_name="gherkin"))


async def test_an_archive_that_needs_too_much_memory_harms_nobody() -> None:
    large = packed(a_feature="Feature: a\n" + ("  " + "b" * 90 + "\n") * 9_000)
    with pytest.raises(Invalid) as refused:
        await inspect(large, look(memory_mib=64))
    assert refused.value.code in {"reader_ended", "too_large"}


ITEM = '{"external_id": "R-1", "title": "Doors close", "description": "All of them."}'


@pytest.mark.parametrize(
    ("file_name", "beginning"),
    [
        ("items.json", f'{{"total": 2, "items": [{ITEM}, {{"external_id": "R-'),
        ("items.json", f'{{"requirements": [{ITEM}, {{"external_id": "R-'),
        ("needs.json", f'{{"current_version": "1", "versions": {{"1": {{"needs": {{"R-1": {ITEM}, "R-2": {{"ti'),
    ],
)
def test_of_a_large_file_of_json_the_beginning_is_looked_at(file_name: str, beginning: str) -> None:
    file = BytesIO(beginning.encode())
    (row,) = described(file, look(kind="requirements", file_name=file_name, is_whole=False))["rows"]
    assert row["fields"]["title"] == "Doors close"
    with pytest.raises(Invalid) as refused:
        described(file, look(kind="requirements", file_name=file_name))
    assert refused.value.code == "cut_off"


def test_of_a_large_file_of_openfasttrace_the_beginning_is_looked_at() -> None:
    item = "<specobject><id>doors-{}</id><version>1</version><shortdesc>Doors close</shortdesc></specobject>"
    whole = f"<specdocument><specobjects doctype='req'>{''.join(map(item.format, range(2000)))}"
    file = BytesIO(whole[:-20].encode())
    found = described(file, look(kind="requirements", file_name="items.xml", is_whole=False))["rows"]
    assert found[0]["fields"]["title"] == "Doors close"
    with pytest.raises(Invalid):
        described(file, look(kind="requirements", file_name="items.xml"))


def test_the_first_rows_of_each_sheet_are_read_with_problems_at_their_cells() -> None:
    book, file = openpyxl.Workbook(), BytesIO()
    requirements = book.active
    requirements.title = "Reqs"
    tests = book.create_sheet("Tests")
    requirements.append(["Req ID", "Title", "Priority"])
    tests.append(["Test ID", "Test case", "Priority"])
    for number in range(30):
        requirements.append([f"R-{number}", f"Doors {number}", "High"])
        tests.append([f"T-{number}", f"Try {number}", "Hihg" if number == 1 else "High"])
    book.save(file)
    found = described(file, look(file_name="book.xlsx"))
    assert Counter(row["sheet"] for row in found["rows"]) == {"Reqs": 20, "Tests": 20}
    (wrong,) = [row for row in found["rows"] if row["problems"]]
    assert (wrong["sheet"], wrong["row"]) == ("Tests", 3)
    (problem,) = wrong["problems"]
    assert (problem["cell"], problem["column"], problem["name"]) == ("C3", 3, "Priority")


def test_a_row_that_is_longer_than_what_is_looked_at_is_not_said_to_be_cut_off() -> None:
    file = BytesIO(b'ID,Title,Description\nR-1,Doors close,"All of')
    with pytest.raises(Invalid, match="row that begins in line 2 does not end within the first MiB"):
        described(file, look(kind="requirements", file_name="items.csv", is_whole=False))
    with pytest.raises(Invalid, match="it is cut off, or a closing quote is missing"):
        described(file, look(kind="requirements", file_name="items.csv"))

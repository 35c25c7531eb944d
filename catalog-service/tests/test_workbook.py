"""A workbook is sent while its lines are added."""

import random
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import openpyxl
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.workbook import Cover, Workbook, cell, text_cells


def test_the_first_sheet_is_written_as_it_comes(tmp_path: Path) -> None:
    file, chance = BytesIO(), random.Random(4)
    columns, others = ("id", "text"), ("id", "note")
    book = Workbook(file, str(tmp_path), Cover("Lines", datetime.now(UTC), {}), ("Lines", columns), ("Notes", others))
    begun = file.getvalue()
    lines = [(str(number), chance.randbytes(500).hex()) for number in range(1000)]
    for line in lines:
        book.add("Lines", columns, map(cell, line))
        book.add("Notes", others, map(cell, ("a", "b")))
    half = file.getvalue()
    book.finish()
    whole = file.getvalue()
    assert 0 < len(begun) < 1000 < 250_000 < len(half)
    assert whole.startswith(half)
    assert half.startswith(begun)
    read = openpyxl.load_workbook(file, read_only=True)
    assert list(read["Lines"].iter_rows(values_only=True)) == [columns, *lines]
    assert len(list(read["Notes"].iter_rows())) == 1001


@given(st.lists(st.none() | st.text() | st.text(st.sampled_from("_x0A&<>\t\n \r'é\u00a0"), max_size=9), max_size=4))
def test_a_line_of_texts_has_the_cells_of_each(texts: list[str | None]) -> None:
    assert text_cells(texts) == list(map(cell, texts))

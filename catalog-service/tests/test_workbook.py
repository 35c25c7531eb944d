"""A workbook is sent while its lines are added."""

import random
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import openpyxl

from catalog_service.workbook import Cover, Workbook, cell


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

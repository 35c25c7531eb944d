"""Makes the files, has each reader read them, and prints the table."""

import csv
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import xlsxwriter

from benchmarks.engine.table import header, row
from benchmarks.exchange import junit_file, product, reqif_file, uploads

ROWS = 100_000
_COLUMNS = ("ID", "Title", "Description", "Priority", "Type", "Status", "Module", "Tags", "Owner", "Effort")
_READERS = {
    ".csv": ("ours", "csv"),
    ".xlsx": ("ours", "ours: rows", "openpyxl", "python-calamine"),
    ".reqif": ("ours", "reqif"),
    ".xml": ("ours: results", "junitparser"),
}
_SHARES = {".reqif": 0.15, ".xml": 3.81}
"""Objects of a ReqIF file are large, test cases of a report are small."""


def main(folder: Path, rows: int = ROWS) -> None:
    """Print what readers and then the product take for files of so many rows, and for reports of results."""
    compare_readers(folder, rows)
    product.main(folder / "table.csv", rows)
    uploads.main(folder, round(rows * _SHARES[".xml"]))


def compare_readers(folder: Path, rows: int) -> None:
    """Print how long each reader takes for each file, and how much memory."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in _READERS:
        _compare(folder, suffix, round(rows * _SHARES.get(suffix, 1)))


def _compare(folder: Path, suffix: str, rows: int) -> None:
    path = folder / f"table{suffix}"
    _write(path, rows)
    _write(path.with_name(f"warm{suffix}"), 2)
    header(
        f"Reading {rows:,} rows of {path.suffix[1:]}, {path.stat().st_size / 1e6:.1f} MB",
        "s",
        "CPU s",
        "MB",
        "rows/s",
    )
    for reader in _READERS[suffix]:
        found = _read(reader, path)
        if found["rows"] != rows:
            raise RuntimeError(f"{reader} found {found['rows']} rows of {rows}.")
        speed = f"{rows / found['cpu']:,.0f}"
        row(reader, f"{found['seconds']:.2f}", f"{found['cpu']:.2f}", f"+{found['megabytes']:.0f}", speed)


def _read(reader: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.exchange.readers", reader, str(path)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(answer.stdout)
    return found


def _write(path: Path, rows: int) -> None:
    if path.suffix == ".reqif":
        reqif_file.write(path, rows)
        return
    if path.suffix == ".xml":
        junit_file.write(path, rows)
        return
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([_COLUMNS, *_rows(rows)])
        return
    book = xlsxwriter.Workbook(path, {"strings_to_urls": False})
    sheet = book.add_worksheet("Requirements")
    for at, cells in enumerate([_COLUMNS, *_rows(rows)]):
        sheet.write_row(at, 0, cells)
    book.close()


def _rows(rows: int) -> Iterator[tuple[str | int, ...]]:
    chance = random.Random(17)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3000)]
    for number in range(rows):
        texts = " ".join(chance.choices(words, k=6)), " ".join(chance.choices(words, k=30))
        priority = chance.choice(("High", "Medium", "Low"))
        yield f"R-{number}", *texts, priority, "Functional", "Draft", f"module {number % 50}", "a, b", "kim", number

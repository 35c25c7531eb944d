"""The benchmark of readers, at a size that says nothing about speed."""

from pathlib import Path

import pytest

from benchmarks.exchange import main
from benchmarks.exchange.run import compare_readers


@pytest.mark.long
def test_each_reader_finds_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare_readers(tmp_path / "files", rows=25)
    lines = capsys.readouterr().out.splitlines()
    names = [line.split("  ")[0] for line in lines if line.strip() and not line.startswith((" ", "Reading"))]
    assert names == ["ours", "csv", "ours", "ours: rows", "openpyxl", "python-calamine", "ours", "reqif"]


@pytest.mark.long
def test_the_product_imports_and_exports_all_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(tmp_path / "files", rows=25)
    assert "pg_dump of the same tables" in capsys.readouterr().out

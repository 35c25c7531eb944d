"""Reads a file by one reader, in a process of its own: `python -m benchmarks.exchange.readers READER FILE`."""

import csv
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path


def _ours(path: Path) -> int:
    from catalog_service.exchange.formats import ReadOptions
    from catalog_service.exchange.records import Item
    from catalog_service.exchange.registry import recognise

    with path.open("rb") as file:
        chosen = recognise(file, path.name, None)
        return sum(isinstance(record, Item) for record in chosen.read(file, ReadOptions(file_name=path.name)))


def _rows(path: Path) -> int:
    from catalog_service.exchange.tabular.xlsx import open_workbook

    with path.open("rb") as file, open_workbook(file) as tables:
        return sum(1 for _ in tables[0].rows) - 1


def _standard_csv(path: Path) -> int:
    with path.open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def _openpyxl(path: Path) -> int:
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return sum(1 for _ in book.worksheets[0].iter_rows(values_only=True)) - 1


def _calamine(path: Path) -> int:
    from python_calamine import CalamineWorkbook

    return len(CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0).to_python()) - 1


def _reqif(path: Path) -> int:
    from reqif.parser import ReqIFParser

    return len(ReqIFParser.parse(str(path)).core_content.req_if_content.spec_objects)


def _results(path: Path) -> int:
    from catalog_service.executions.read import Order, Read, read

    with path.open("rb") as file, Path(os.devnull).open("wb") as nowhere:
        found = read(file, nowhere, Order("auto", path.name))
    if not isinstance(found, Read):
        raise TypeError(found.detail)
    return found.counts["results"]


def _junitparser(path: Path) -> int:
    from junitparser import JUnitXml

    report = JUnitXml.fromfile(str(path))
    return len([(case.classname, case.name, case.time, case.result) for suite in report for case in suite])


READERS: dict[str, Callable[[Path], int]] = {
    "ours": _ours,
    "ours: rows": _rows,
    "csv": _standard_csv,
    "openpyxl": _openpyxl,
    "python-calamine": _calamine,
    "reqif": _reqif,
    "ours: results": _results,
    "junitparser": _junitparser,
}


def _measure(reader: str, path: Path) -> dict[str, float]:
    """Return the rows, the seconds of CPU, and how many MB more are in use at most than with the reader imported."""
    read = READERS[reader]
    warm = path.with_name(f"warm{path.suffix}")
    read(warm)
    before = _most_memory()
    began, began_cpu = time.perf_counter(), time.process_time()
    rows = read(path)
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    return {"rows": rows, "seconds": seconds, "cpu": cpu, "megabytes": _most_memory() - before}


def _most_memory() -> float:
    """Return the most memory that this process has had, in MB; `ru_maxrss` would begin with its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]))))

"""NUnit 3 XML."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from catalog_service.exchange.refusals import has_root
from catalog_service.executions.readers.results import (
    Found,
    ReadAs,
    Result,
    ResultFormat,
    Status,
    milliseconds,
    note,
    note_tag,
)
from catalog_service.executions.readers.xml_results import ResultsHandler, fail, results_of

_STATUSES: dict[str, Status] = {"Passed": "passed", "Warning": "passed", "Failed": "failed"}


class _Cases(ResultsHandler):
    roots = ("test-run", "test-suite")
    """A suite alone is what the engine returns of an assembly."""
    label = "NUnit 3 report"

    def __init__(self) -> None:
        super().__init__()
        self._case: Result | None = None
        self._within = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        case = self._case
        if tag == "test-case":
            given = attributes.get
            self._case = Result(
                given("name", ""),
                given("classname") or given("fullname", "").rpartition(".")[0],
                status=_STATUSES.get(given("result", ""), "skipped"),
                duration_ms=milliseconds(given("duration") or given("time")),
            )
        elif case is None:
            if tag == "test-suite" and (
                attributes.get("site") in ("SetUp", "TearDown") or attributes.get("runstate") == "NotRunnable"
            ):
                self.odd("suite_failed", "A suite failed before or after its cases; only cases are counted.")
        elif tag == "property":
            name, value = attributes.get("name", ""), attributes.get("value", "")
            if name == "Category":
                note_tag(case, value)
            note(case, name, value)
        elif tag in ("failure", "reason"):
            self._within = tag
        elif tag in ("message", "stack-trace") and self._within:
            self.keep()

    def end(self, tag: str) -> None:
        case = self._case
        if case is None:
            return
        if tag == "test-case":
            self.found.append(case)
            self._case = None
        elif tag in ("failure", "reason"):
            self._within = ""
        elif self.keeps_text:
            text = self.take_text()
            if case.status == "failed":
                fail(case, text if tag == "message" else None, text if tag == "stack-trace" else None)
            elif tag == "message":
                case.message = text[:4096] or None


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is an NUnit 3 report: by its first element."""
    head = file.read(65536)
    return 0.95 if has_root(head, b"test-run") or (has_root(head, b"test-suite") and b"testcasecount=" in head) else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the cases, as they end."""
    return results_of(file, _Cases())


FORMAT = ResultFormat("nunit", "NUnit 3 XML", recognise, read)

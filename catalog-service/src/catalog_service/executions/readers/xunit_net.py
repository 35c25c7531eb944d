"""xUnit.net v2 XML, which Fixie writes, too."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from catalog_service.exchange.records import Notice
from catalog_service.exchange.refusals import has_root
from catalog_service.executions.readers.results import (
    Found,
    ReadAs,
    Result,
    ResultFormat,
    Status,
    milliseconds,
)
from catalog_service.executions.readers.xml_results import ResultsHandler, fail, number, results_of

_STATUSES: dict[str, Status] = {"Pass": "passed", "Skip": "skipped", "NotRun": "skipped"}
_COUNTED = frozenset({"assembly", "collection"})
"""What says how many tests are in it, and how many of them failed."""
_ERRORS = "The run had errors of no test, such as a class that could not be cleaned up."


class _Tests(ResultsHandler):
    roots = ("assemblies", "assembly")
    label = "xUnit.net report"

    def __init__(self, as_asked: ReadAs) -> None:
        super().__init__(as_asked)
        self._test: Result | None = None
        self._ended = self._failed = 0
        self._has_errors = False
        self._open: list[tuple[int, int]] = []
        """Of the assembly and the collection that are open: how many tests end before it does, and how many failed."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        test, given = self._test, attributes.get
        if tag == "test":
            class_name = given("type", "")
            self._test = Result(
                given("name", "").removeprefix(f"{class_name}.") if class_name else given("name", ""),
                class_name,
                status=_STATUSES.get(given("result", ""), "failed"),
                duration_ms=milliseconds(given("time")),
            )
        elif tag in _COUNTED:
            self._open.append((self._ended + number(given("total")), self._failed + number(given("failed"))))
            self._has_errors = self._has_errors or number(given("errors")) > 0
        elif tag == "error":
            self.odd("errors_of_run", _ERRORS)
        elif test is None:
            return
        elif tag == "failure":
            test.status = "failed"
        elif tag == "trait":
            if given("name", "").lower() == "category":
                self.properties.note_tag(test, given("value", ""))
            self.properties.note(test, given("name", ""), given("value", ""))
        elif tag in ("message", "stack-trace", "reason"):
            self.keep()

    def end(self, tag: str) -> None:
        test = self._test
        if test is None:
            if tag in _COUNTED and self._open:
                self._compare(*self._open.pop())
            return
        if tag == "test":
            self._ended += 1
            self._failed += test.status == "failed"
            self.found.append(test)
            self._test = None
        elif self.keeps_text:
            text = self.take_text()
            if tag == "reason":
                test.message = text[:4096] or None
            elif test.status == "failed":
                fail(test, text if tag == "message" else None, text if tag == "stack-trace" else None)

    def _compare(self, told: int, told_failed: int) -> None:
        """Tell of an assembly or a collection that says that it has more tests than there are, or more failures."""
        if told > self._ended:
            self.odd("plan_not_kept", f"The report says that {told - self._ended} more tests ran than are in the file.")
        elif told_failed > self._failed:
            self.odd("suite_failed", "The report says that more tests failed than those in the file.")

    def notices(self) -> Iterator[Notice]:
        if self._has_errors and not self.has_odd("errors_of_run"):
            self.odd("errors_of_run", _ERRORS)
        return super().notices()


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is an xUnit.net report: by its first element."""
    return 0.95 if has_root(file.read(65536), b"assemblies", b"assembly") else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the tests, as they end."""
    return results_of(file, _Tests(as_asked))


FORMAT = ResultFormat("xunit-net", "xUnit.net v2 XML", recognise, read)

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
from catalog_service.executions.readers.xml_results import ResultsHandler, fail, results_of

_STATUSES: dict[str, Status] = {"Pass": "passed", "Skip": "skipped", "NotRun": "skipped"}


_ERRORS = "The run had errors of no test, such as a class that could not be cleaned up."


class _Tests(ResultsHandler):
    roots = ("assemblies", "assembly")
    label = "xUnit.net report"

    def __init__(self, as_asked: ReadAs) -> None:
        super().__init__(as_asked)
        self._test: Result | None = None
        self._ended = 0
        self._has_errors = False
        self._told = 0
        """How many tests the assemblies say that they have."""

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
        elif tag == "assembly":
            self._told += _number(given("total"))
            self._has_errors = self._has_errors or _number(given("errors")) > 0
        elif tag == "error":
            self.odd("errors_of_run", _ERRORS)
        elif test is None:
            return
        elif tag == "trait":
            if given("name", "").lower() == "category":
                self.properties.note_tag(test, given("value", ""))
            self.properties.note(test, given("name", ""), given("value", ""))
        elif tag in ("message", "stack-trace", "reason"):
            self.keep()

    def end(self, tag: str) -> None:
        test = self._test
        if test is None:
            return
        if tag == "test":
            self._ended += 1
            self.found.append(test)
            self._test = None
        elif self.keeps_text:
            text = self.take_text()
            if tag == "reason":
                test.message = text[:4096] or None
            elif test.status == "failed":
                fail(test, text if tag == "message" else None, text if tag == "stack-trace" else None)

    def notices(self) -> Iterator[Notice]:
        if self._has_errors and not self.has_odd("errors_of_run"):
            self.odd("errors_of_run", _ERRORS)
        if self._told > self._ended:
            detail = f"The assemblies say that they have {self._told} tests, and the file has {self._ended} of them."
            self.odd("plan_not_kept", detail)
        return super().notices()


def _number(text: str | None) -> int:
    return int(text[:9]) if text is not None and text.isdecimal() else 0


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is an xUnit.net report: by its first element."""
    return 0.95 if has_root(file.read(65536), b"assemblies", b"assembly") else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the tests, as they end."""
    return results_of(file, _Tests(as_asked))


FORMAT = ResultFormat("xunit-net", "xUnit.net v2 XML", recognise, read)

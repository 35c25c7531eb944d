"""TRX, the results of Visual Studio and dotnet test."""

import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from catalog_service.exchange.refusals import has_root
from catalog_service.executions.readers.results import (
    Found,
    ReadAs,
    Result,
    ResultFormat,
    Status,
    whole_milliseconds,
)
from catalog_service.executions.readers.xml_results import ResultsHandler, fail, local, number, results_of

_STATUSES: dict[str, Status] = {
    **dict.fromkeys(("Passed", "PassedButRunAborted", "Warning", "Completed"), "passed"),
    **dict.fromkeys(
        ("NotExecuted", "NotRunnable", "Inconclusive", "Disconnected", "Pending", "InProgress"),
        "skipped",
    ),
}
_DURATION = re.compile(r"(?:(\d+)\.)?(\d+):(\d+):(\d+(?:\.\d+)?)", re.ASCII)
_ABORTED = frozenset({"Aborted", "Timeout", "Disconnected", "InProgress", "Pending"})
"""What a run says of its end, and of tests that it did not see the end of."""
_FAILED = ("failed", "error", "timeout", "aborted")
"""How the counters of a run call tests that did not pass."""
_SAYS_OF_A_TEST = re.compile(r"\[xUnit\.net [\d:.]+\].*\[(?:FAIL|SKIP)\]$|Exit code indicates failure: '2'\.")
"""What xUnit.net and Microsoft.Testing.Platform tell the run of tests whose results stand in the report."""
_RESULTS = frozenset({"UnitTestResult", "WebTestResult", "ManualTestResult", "GenericTestResult", "TestResult"})


class _Results(ResultsHandler):
    """The classes of tests stand behind all results, so these are held until the end."""

    roots = ("TestRun",)
    label = "TRX report"

    def __init__(self, as_asked: ReadAs) -> None:
        super().__init__(as_asked)
        self._open: list[Result] = []
        self._held: list[tuple[str, Result]] = []
        self._classes: dict[str, str] = {}
        self._notes: dict[str, Result] = {}
        self._definition = ""
        self._property = ""
        self._has_error = False
        self._outcome = ""
        self._told = 0
        self._told_failed = 0

    def root(self, tag: str) -> None:
        super().root(local(tag))

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = local(tag)
        if name in _RESULTS:
            self._begin(attributes)
        elif name in ("Message", "StackTrace") and self._open:
            self.keep()
        elif name == "UnitTest":
            self._definition = attributes.get("id", "")
        elif name == "TestMethod" and self._definition:
            self._classes[self._definition] = attributes.get("className", "").partition(",")[0]
        elif name == "TestCategoryItem" and self._definition:
            self.properties.note_tag(self._noted(), attributes.get("TestCategory", ""))
        elif name in ("Key", "Value", "WorkItem") and self._definition:
            self.keep()
        elif name == "ResultSummary":
            self._outcome = attributes.get("outcome", "")
        elif name == "Counters":
            self._told = number(attributes.get("total"))
            self._told_failed = sum(number(attributes.get(end)) for end in _FAILED)
        elif name == "RunInfo":
            self._has_error = attributes.get("outcome") in ("Error", "Failed", "Aborted")
        elif name == "Text" and self._has_error:
            self.keep()

    def _noted(self) -> Result:
        return self._notes.setdefault(self._definition, Result(""))

    def end(self, tag: str) -> None:
        name = local(tag)
        if name in _RESULTS:
            inner = self._open.pop()
            if inner.status == "failed" and self._open and self._open[-1].status == "passed":
                fail(self._open[-1], "A result within it failed, and its own says that it passed.", None)
        elif name == "UnitTest":
            self._definition = ""
        elif name == "RunInfo" and self._has_error:
            self._has_error = False
            self.odd("errors_of_run", "The run had errors of no test, such as a host that crashed.")
        elif name == "TestRun":
            self._finish()
        elif self.keeps_text:
            self._end_text(name, self.take_text())

    def _begin(self, attributes: Mapping[str, str]) -> None:
        outcome = attributes.get("outcome", "")
        if outcome in _ABORTED - {"Timeout"} or outcome == "PassedButRunAborted":
            self.odd("crashed", "Tests began and were not seen to end.")
        result = Result(
            attributes.get("testName", ""),
            status=_STATUSES.get(outcome, "failed"),
            duration_ms=_duration(attributes.get("duration", "")),
        )
        if row := attributes.get("dataRowInfo"):
            result.iteration = f"{result.name} [row {row}]"
        self._held.append((attributes.get("testId", ""), result))
        self._open.append(result)

    def _end_text(self, name: str, text: str) -> None:
        if name in ("Message", "StackTrace"):
            result = self._open[-1]
            if result.status == "failed":
                fail(result, text if name == "Message" else None, text if name == "StackTrace" else None)
            elif result.status == "skipped" and name == "Message":
                result.message = text[:4096] or None
        elif name == "Text":
            self._has_error = not _SAYS_OF_A_TEST.match(text)
        elif name == "Key":
            self._property = text
        elif name == "Value":
            self.properties.note(self._noted(), self._property, text)
        else:
            self.properties.note_tag(self._noted(), text)

    def _finish(self) -> None:
        if self._outcome in _ABORTED:
            self.odd("crashed", f"The run was not seen to end: its outcome is {self._outcome}.")
        failed = sum(one.status == "failed" for _, one in self._held)
        if (self._outcome in ("Failed", "Error") and not failed) or self._told_failed > failed:
            self.odd("suite_failed", "The run says that it failed beside its tests.")
        if self._told > len(self._held):
            detail = f"The run says that it has {self._told} tests, and the file has {len(self._held)} of them."
            self.odd("plan_not_kept", detail)
        for test_id, result in self._held:
            result.class_name = self._classes.get(test_id, "")
            if result.class_name:
                result.name = result.name.removeprefix(f"{result.class_name}.")
            said = self._notes.get(test_id)
            if said is not None:
                result.named, result.requirements, result.tags = said.named, said.requirements, said.tags
            self.found.append(result)
        self._held.clear()


def _duration(text: str) -> int | None:
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return whole_milliseconds((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000)


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a TRX report: by its first element, of which CppUnit has one, too."""
    head = file.read(65536)
    return 0.95 if has_root(head, b"TestRun") and b"<FailedTests" not in head else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the results, inner ones of data-driven tests among them."""
    return results_of(file, _Results(as_asked))


FORMAT = ResultFormat("trx", "TRX (Visual Studio, dotnet test)", recognise, read)

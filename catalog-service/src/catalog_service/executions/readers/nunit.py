"""NUnit 3 XML."""

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

_STATUSES: dict[str, Status] = {"Passed": "passed", "Warning": "passed", "Failed": "failed"}


_OF_CASES = frozenset({"Child", "Parent"})
"""Where a suite failed that did not fail by itself."""
_SUITE_FAILED = "A suite failed beside its cases; only cases are counted."


class _Suite:
    """A suite that is open, with how many cases had failed before it, and are to have ended and failed behind it."""

    __slots__ = ("failed_before", "has_failed", "is_told", "told", "told_failed")

    def __init__(self, attributes: Mapping[str, str], ended_before: int, failed_before: int) -> None:
        self.failed_before = failed_before
        self.told = ended_before + number(attributes.get("total"))
        self.told_failed = failed_before + number(attributes.get("failed"))
        self.has_failed = attributes.get("result", "").startswith("Failed")
        is_own = attributes.get("site", "Child") not in _OF_CASES
        is_broken = attributes.get("label") in ("Error", "Invalid") and attributes.get("site") not in _OF_CASES
        self.is_told = attributes.get("runstate") == "NotRunnable" or (self.has_failed and (is_own or is_broken))


class _Cases(ResultsHandler):
    roots = ("test-run", "test-suite")
    """A suite alone is what the engine returns of an assembly."""
    label = "NUnit 3 report"

    def __init__(self, as_asked: ReadAs) -> None:
        super().__init__(as_asked)
        self._case: Result | None = None
        self._within = ""
        self._ended = 0
        self._failed = 0
        self._open: list[_Suite] = []
        self._run: Mapping[str, str] = {}
        """What the report says of itself as a whole."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        case = self._case
        if not self._run and tag in self.roots:
            self._run = dict(attributes)
        if tag == "test-case":
            given = attributes.get
            self._case = Result(
                given("name", ""),
                given("classname") or given("fullname", "").rpartition(".")[0],
                status=_STATUSES.get(given("result", ""), "skipped"),
                duration_ms=milliseconds(given("duration") or given("time")),
            )
        elif case is None:
            if tag == "test-suite":
                self._open.append(_Suite(attributes, self._ended, self._failed))
                if attributes.get("label") == "Cancelled":
                    self.odd("crashed", "The run was cancelled: what had not run yet is not in the file.")
        elif tag == "property":
            name, value = attributes.get("name", ""), attributes.get("value", "")
            if name == "Category":
                self.properties.note_tag(case, value)
            self.properties.note(case, name, value)
        elif tag in ("failure", "reason"):
            self._within = tag
            if tag == "failure" and case.status == "passed":
                case.status = "failed"
        elif tag in ("message", "stack-trace") and self._within:
            self.keep()

    def end(self, tag: str) -> None:
        case = self._case
        if case is None:
            if tag == "test-suite" and self._open:
                self._compare(self._open.pop())
            return
        if tag == "test-case":
            self._ended += 1
            self._failed += case.status == "failed"
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

    def _compare(self, suite: _Suite) -> None:
        has_failed_alone = suite.has_failed and self._failed == suite.failed_before
        if suite.is_told or has_failed_alone or suite.told_failed > self._failed:
            self.odd("suite_failed", _SUITE_FAILED)
        if suite.told > self._ended:
            detail = f"A suite says that {suite.told - self._ended} more cases ran than are in the file."
            self.odd("plan_not_kept", detail)

    def notices(self) -> Iterator[Notice]:
        total, says_more = number(self._run.get("total")), number(self._run.get("failed")) > self._failed
        says_failed = self._run.get("result", "").startswith("Failed") and not self._failed
        if (says_more or says_failed) and not self.has_odd("suite_failed"):
            self.odd("suite_failed", "The run says that it failed beside its cases.")
        if total > self._ended and not self.has_odd("plan_not_kept"):
            detail = f"The run says that it has {total} cases, and the file has {self._ended} of them."
            self.odd("plan_not_kept", detail)
        return super().notices()


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is an NUnit 3 report: by its first element."""
    head = file.read(65536)
    return 0.95 if has_root(head, b"test-run") or (has_root(head, b"test-suite") and b"testcasecount=" in head) else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the cases, as they end."""
    return results_of(file, _Cases(as_asked))


FORMAT = ResultFormat("nunit", "NUnit 3 XML", recognise, read)

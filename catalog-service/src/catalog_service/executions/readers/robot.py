"""output.xml of Robot Framework, from 2.x to 7."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from html import unescape
from typing import BinaryIO

from catalog_service.exchange.refusals import has_root
from catalog_service.executions.readers.results import (
    LONGEST_MESSAGE,
    Found,
    ReadAs,
    Result,
    ResultFormat,
    Status,
    milliseconds,
    whole_milliseconds,
)
from catalog_service.executions.readers.xml_results import ResultsHandler, number, results_of
from chassis.files.refused import FileRefused
from chassis.files.xml_events import XmlLimits

_STATUSES: dict[str, Status] = {"PASS": "passed", "SKIP": "skipped", "NOT RUN": "skipped"}
_DEEPEST = 1000
"""Robot Framework ends keywords that call themselves at a depth of about 300 elements."""
_DEEPEST_SUITES = 64
"""Folders; each may make all tests below it fail, which takes a while for thousands of them."""
_TIME = "%Y%m%d %H:%M:%S.%f"
_FAILED_BEFORE = re.compile(r'"old-status">Old status:</span> <span class="fail">|\[RETRY\] PASS on \d+\. retry\.$')
"""What `rebot --merge` and the listener RetryFailed say of a test that was executed again."""
_UNREAD = "Parsing '"
"""How Robot Framework 2 begins what it says of a file whose tests it leaves out; later ones do not run at all then."""
_TAG = re.compile(r"<[^<>]*>")


class _Suite:
    """A suite that is open: its tests and those of the suites in it, which its teardown may make fail."""

    __slots__ = ("has_failed", "name", "teardown", "tests")

    def __init__(self, name: str) -> None:
        self.name = name
        self.has_failed = False
        self.tests: list[Result] = []
        self.teardown: tuple[str, str] | None = None


class _Tests(ResultsHandler):
    roots = ("robot",)
    label = "output.xml of Robot Framework"

    def __init__(self, as_asked: ReadAs) -> None:
        super().__init__(as_asked)
        self._open: list[str] = []
        self._suites: list[_Suite] = []
        self._test: Result | None = None
        self._in_teardown = False
        self._status: Mapping[str, str] = {}
        self._ended = self._failed = 0
        self._told = self._told_failed = 0
        """How many tests the statistics have, and how many of them failed."""
        self._has_ended = False
        """Whether the test says how it ended."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        within = self._open[-1] if self._open else ""
        self._open.append(tag)
        if tag == "suite" and within in ("suite", "robot"):
            if len(self._suites) == _DEEPEST_SUITES:
                raise FileRefused(f"Suites lie more than {_DEEPEST_SUITES} deep in one another here.")
            above = f"{self._suites[-1].name}." if self._suites else ""
            self._suites.append(_Suite(above + attributes.get("name", "")))
        elif tag == "test" and self._suites:
            self._test = Result(attributes.get("name", ""), self._suites[-1].name)
            self._has_ended = False
        elif tag == "kw" and within == "suite":
            self._in_teardown = attributes.get("type", "").lower() == "teardown"
        elif tag == "status" and within == "suite" and self._suites:
            self._suites[-1].has_failed = attributes.get("status") == "FAIL"
        elif tag == "status" and (within == "test" or (self._in_teardown and self._is_of_teardown())):
            self._status = dict(attributes)
            self.keep()
        elif tag == "stat" and within == "total":
            passed, failed, skipped = (number(attributes.get(which)) for which in ("pass", "fail", "skip"))
            self._told, self._told_failed = max(self._told, passed + failed + skipped), max(self._told_failed, failed)
        elif (tag == "msg" and within == "errors" and attributes.get("level") == "ERROR") or (
            tag == "tag" and (within == "test" or self._open[-3:-1] == ["test", "tags"])
        ):
            self.keep()

    def _is_of_teardown(self) -> bool:
        return self._open[-3:-1] == ["suite", "kw"]

    def end(self, tag: str) -> None:
        self._open.pop()
        within = self._open[-1] if self._open else ""
        if tag == "msg" and within == "errors":
            if self.keeps_text and self.take_text().startswith(_UNREAD):
                self.odd(
                    "errors_of_run", "Files of tests could not be read by Robot Framework: their tests did not run."
                )
        elif tag == "robot":
            self._compare()
        elif tag == "tag" and self.keeps_text:
            assert self._test is not None, "only tags of tests are kept"
            self.properties.note_tag(self._test, self.take_text())
        elif tag == "status" and self.keeps_text:
            self._end_status(within)
        elif tag == "test" and self._test is not None:
            self._ended += 1
            if not self._has_ended:
                self._test.status, self._test.message = "failed", "The report does not say how it ended."
                self.odd("crashed", "Tests began and were not seen to end.")
            self._suites[-1].tests.append(self._test)
            self._test = None
        elif tag == "kw" and within == "suite":
            self._in_teardown = False
        elif tag == "suite" and within in ("suite", "robot"):
            self._end_suite()

    def _compare(self) -> None:
        """Hold the tests against the statistics."""
        if self._told > self._ended:
            detail = f"The statistics have {self._told} tests, and the file has {self._ended} of them."
            self.odd("plan_not_kept", detail)
        elif self._told_failed > self._failed:
            self.odd("suite_failed", "The statistics say that more tests failed than those in the file.")

    def _end_status(self, within: str) -> None:
        said, status = self.take_text(), self._status.get("status", "")
        if within == "kw":
            self._suites[-1].teardown = (status, said)
        elif self._test is not None:
            self._has_ended = True
            self._test.status = _STATUSES.get(status, "failed")
            self._test.duration_ms = _duration(self._status)
            self._test.failed_before = self._test.status == "passed" and _FAILED_BEFORE.search(said) is not None
            if self._test.status != "passed" or self._test.failed_before:
                self._test.message = _plain(said)[:LONGEST_MESSAGE] or None

    def _end_suite(self) -> None:
        suite = self._suites.pop()
        status, said = suite.teardown or ("PASS", "")
        for test in suite.tests if status in ("FAIL", "SKIP") else ():
            if status == "SKIP":
                test.status = "skipped"
            elif test.status != "skipped":
                before = f"\n\nEarlier: {test.message}" if test.message else ""
                test.status = "failed"
                test.message = f"The teardown of {suite.name} failed: {said}{before}"[:LONGEST_MESSAGE]
        if suite.has_failed and all(test.status != "failed" for test in suite.tests):
            self.odd("suite_failed", "A suite failed, and none of its tests has.")
        if self._suites:
            self._suites[-1].tests += suite.tests
        else:
            self._failed += sum(test.status == "failed" for test in suite.tests)
            self.found += suite.tests


def _plain(said: str) -> str:
    """Return a message as plain text: Robot Framework marks one that is HTML."""
    if not said.startswith("*HTML*"):
        return said
    return " ".join(unescape(_TAG.sub(" ", said.removeprefix("*HTML*"))).split())


def _duration(status: Mapping[str, str]) -> int | None:
    if "elapsed" in status:
        return milliseconds(status["elapsed"])
    try:
        begun, ended = (datetime.strptime(status[name], _TIME) for name in ("starttime", "endtime"))  # noqa: DTZ007
    except (KeyError, ValueError):
        return None
    return whole_milliseconds((ended - begun).total_seconds() * 1000)


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is of Robot Framework: by its first element."""
    return 0.95 if has_root(file.read(65536), b"robot") else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the tests, those of a suite when it ends: its teardown may make them fail."""
    return results_of(file, _Tests(as_asked), XmlLimits(depth=_DEEPEST))


FORMAT = ResultFormat("robot", "Robot Framework output.xml", recognise, read)

"""JUnit XML of any tool: Surefire, Gradle, pytest, GoogleTest, CTest, jest, PHPUnit, ...

Each case is counted where it stands, since suites may lie in one another. What attributes count says alone that
something of the report is missing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import BinaryIO

from catalog_service.exchange.refusals import has_root
from catalog_service.executions.javascript_names import normalise_class
from catalog_service.executions.normal_forms import split_type
from catalog_service.executions.readers.results import (
    Found,
    ReadAs,
    Result,
    ResultFormat,
    first_line,
    milliseconds,
)
from catalog_service.executions.readers.xml_results import ResultsHandler, fail, local, results_of
from catalog_service.executions.workspaces import find_workspace, tell_from, texts_in
from chassis.core.wording import shown
from chassis.files.refused import FileRefused

_FAILED = frozenset({"failure", "error"})
_RERUN = frozenset({"rerunFailure", "rerunError"})
_FLAKY = frozenset({"flakyFailure", "flakyError"})
_SAYS_WHY = _FAILED | _RERUN | _FLAKY
_NOT_RUN = frozenset({"notrun", "disabled", "skipped", "ignored", "suppressed", "pending", "canceled", "cancelled"})
_NOT_PASSED = frozenset(
    {"fail", "failed", "failure", "error", "errored", "timeout", "timedout", "broken", "crashed", "aborted"}
)
_SKIPS = frozenset({"skipped", "disabled", "skip", "ignored", "pending"})
_MAY_FAIL = "TEST_CASE tagged with !mayfail"
"""What Catch2 says of a test whose failure is none; Node.js has the type `todo` for it."""
_TESTCAFE = "TestCafe Tests: "
_OF_BROWSER = str.maketrans(" .", "__")
"""How Karma writes the browser, which is its suite, before the class of each test."""
_OF_NODE = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
_UNSTABLE = "(unstable)"
"""What TestCafe says of a test that passed after it had failed: behind its name, newer ones in its output."""
_OF_PYTEST = {
    "collection failure": ("errors_of_run", "Files of tests could not be read by pytest: their tests did not run."),
    "internal error": ("crashed", "pytest ended by an error of its own."),
}
_SUITE_FAILED = "A suite says that it failed beside its cases; only cases are counted."
_SAID_SKIPPED = ("skipped", "skips", "skip", "disabled", "ignored")
_OF_CATCH2 = "tbd"
"""The host that Catch2 names; it counts assertions as tests, as doctest does."""
_PYTEST = "pytest tests"
"""What pytest calls all suites together; it counts what is tested within a test, too, and such a case is no case."""
_OF_DOCTEST = frozenset({"name", "errors", "failures", "tests"})
"""What doctest says of a suite, no more and no less; its cases have the status `run`."""
_SWITCHES = frozenset({"executed", "ignored", "success"})
_PLAIN = frozenset({"name", "classname", "time", "file", "line", "assertions"})
"""Attributes that say nothing but which test it was, and for how long; most cases have no others."""

_PATH = rb"(?:file://)?(?:/|[A-Za-z]:[/\\\\])[^\"<>]{1,4000}"
_PATHS = re.compile(rb'\bfile="(%b)"' % _PATH)
_HAS_PATHS = re.compile(
    rb'\bfile="%b\.[cm]?[jt]sx?"|<testcase(?![^>]*\bclass(?:name)?="[^"])[^>]*\bfile="%b"' % (_PATH, _PATH)
)
"""A path of a test that is called by it: of JavaScript, or without a class."""

ROOTS = ("testsuites", "testsuite", "testrun")
"""`testrun` is what Eclipse exports."""


@dataclass(frozen=True, slots=True)
class _Suite:
    """A suite that is open: what it says of itself, and what the file had before: as `_Cases.counted`."""

    name: str
    file: str
    failures: int
    tests: int
    skipped: int
    before: tuple[int, int, int, int]


class _Cases(ResultsHandler):
    roots = ROOTS
    label = "JUnit report"

    def __init__(self, as_asked: ReadAs, workspace: str) -> None:
        super().__init__(as_asked)
        self._workspace = workspace
        """Where the files of the tests lie, if they are told from the root of a machine."""
        self._names = self.properties.names
        self._suites: list[_Suite] = []
        self._counts_tests = True
        """Whether `tests` of suites counts cases."""
        self._case: Result | None = None
        self._position = 0
        """How many cases of a suite have begun."""
        self._ended = 0
        self._failed = 0
        self._left_out = 0
        self._said = 0
        """How many failures cases have, those of earlier tries among them."""
        self._skipped = False
        self._may_fail = False
        self._is_of_ctest = False
        self._is_of_doctest = False
        self._is_bare = False
        self._is_named = False
        self._is_testcafe = False
        self._whole: _Suite | None = None
        self._browser = ""
        """What stands before each class: a browser with its version, which is another one after each update."""
        self._project = ""
        """The project of Playwright, such as a browser, that a suite is of."""
        self._why: str | None = None
        self._message: str | None = None
        self._type: str | None = None
        self._property: str | None = None

    def root(self, tag: str) -> None:
        super().root(local(tag))

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "testcase":
            self._begin(attributes)
            return
        name = local(tag)
        if name == "testcase":
            self._begin(attributes)
        elif name == "testsuite":
            own = attributes.get("name", "")
            file = (
                attributes.get("file") or attributes.get("filepath") or (self._suites[-1].file if self._suites else "")
            )
            self._suites.append(self._opened(own, file, attributes))
            self._position = 0
            self._is_of_doctest = attributes.keys() == _OF_DOCTEST
            self._is_testcafe = own.startswith(_TESTCAFE)
            self._browser = own.translate(_OF_BROWSER) if own.endswith(")") else ""
            # Playwright names its project where others name the machine; of these, all but it name themselves, too.
            is_of_playwright = own.endswith(_OF_NODE) and not self._is_named
            self._project = attributes.get("hostname", "") if is_of_playwright else ""
        elif name in ("testsuites", "testrun"):
            self._whole = self._opened("", "", attributes)
            self._is_bare = not attributes
            self._is_named = bool(attributes.get("name"))
            if attributes.get("name") == "AllTests" and "failures" not in attributes:
                raise FileRefused(
                    "This lists the tests of GoogleTest, and none has run; run it without --gtest_list_tests."
                )
        elif self._case is None:
            if name in _FAILED:
                self.odd("suite_failed", _SUITE_FAILED)
            elif name == "property" and attributes.get("name") == "capabilities":  # of WebdriverIO
                self._browser = attributes.get("value", "")
        elif name in _SAYS_WHY:
            self._said += 1
            if self._why is None:
                self._why = name
                message = attributes.get("message")
                # behave writes the word of Python where nothing was raised, as of a step that nobody has written.
                self._message, self._type = None if message == "None" else message, attributes.get("type")
                self.keep()
        elif name in _SKIPS:
            self._skipped = True
            if self._is_of_ctest and not attributes.get("message", "SKIP_").startswith("SKIP_"):
                self._case.status = "failed"
            self._may_fail = attributes.get("type") == "todo" or attributes.get("message") == _MAY_FAIL
            if not self._case.message:
                self._case.message = attributes.get("message")
        elif name == "property" and self._why is None:
            self._property = attributes.get("name", "")
            if "value" in attributes:
                self.properties.note(self._case, self._property, attributes["value"])
                self._property = None
            else:
                self.keep()
        elif self._is_testcafe and name == "system-out" and self._why is None:
            self.keep()

    def end(self, tag: str) -> None:
        if tag == "testcase":
            self._finish()
            return
        name = local(tag)
        if name == "testcase":
            self._finish()
        elif name == "testsuite":
            self._compare(self._suites.pop())
        elif name in ("testsuites", "testrun") and self._whole is not None:
            self._compare(self._whole)
        elif self._case is None:
            return
        elif name == self._why:
            self._say_why(self._case, name, self.take_text())
        elif name == "property" and self._property is not None:
            self.properties.note(self._case, self._property, self.take_text())
            self._property = None
        elif self._is_testcafe and name == "system-out" and self._why is None:
            self._case.failed_before = self._case.failed_before or _UNSTABLE in self.take_text().splitlines()[:1]

    def _opened(self, name: str, file: str, attributes: Mapping[str, str]) -> _Suite:
        """Return a suite with what it says of itself."""
        given = attributes.get
        if given("hostname") == _OF_CATCH2 or given("name") == _PYTEST:
            self._counts_tests = False
        return _Suite(
            name,
            file,
            # Some count what they call errors among the failures, too.
            max(_number(given("errors")), _number(given("failures"))),
            _number(given("tests")),
            sum(_number(given(which)) for which in _SAID_SKIPPED),
            self.counted,
        )

    @property
    def counted(self) -> tuple[int, int, int, int]:
        """How many cases have ended so far, failed, were left out, and how many failures they say."""
        return self._ended, self._failed, self._left_out, self._said

    def _compare(self, suite: _Suite) -> None:
        """Tell of a suite that says that it has more tests than there are, or more failures.

        pytest counts a test twice that passed and whose teardown failed, Surefire may count each try, and behave counts
        what it leaves out.
        """
        ended, failed, skipped, failures = (
            now - before for now, before in zip(self.counted, suite.before, strict=True)
        )
        if suite.failures > max(failed, failures):
            self.odd("suite_failed", _SUITE_FAILED)
        if self._counts_tests and suite.tests > ended + failures + max(suite.skipped - skipped, 0):
            which = f"The suite {shown(suite.name)}" if suite.name else "The report"
            detail = f"{which} says that it has {suite.tests} tests, and the file has {ended} of them."
            self.odd("plan_not_kept", detail)

    def _begin(self, attributes: Mapping[str, str]) -> None:
        if self._case is not None:
            raise FileRefused("A test case lies within another one here; the file is damaged.")
        suite, file = (self._suites[-1].name, self._suites[-1].file) if self._suites else ("", "")
        given = attributes.get
        name = given("name", "")
        if not name:
            self.odd("no_name", "A test case has no name; such cases are taken for one test.")
        class_name = given("classname") or given("class") or ""
        self._position += 1
        if not class_name and name.startswith(f"{self._position} - "):
            name = name.partition(" - ")[2] or name  # Perl's TAP::Formatter::JUnit leaves the number of TAP there
        if ".lua:" in class_name:
            class_name = class_name.rpartition(":")[0]  # busted names the line, too, which is another after each change
        file = given("file") or file
        if self._is_bare and class_name == "test":
            # Node.js calls the class of each test so: what tells tests of one name apart is all suites around them.
            class_name, suite = "", " > ".join(one.name for one in self._suites)
        if name[:1] == " " and class_name.endswith(_OF_NODE):
            name = name.strip()  # Jest leaves room for suites, of which there are none
        case = Result(name, class_name, suite, file)
        if self._browser and class_name.startswith(f"{self._browser}."):
            case.class_name, case.iteration = class_name[len(self._browser) + 1 :], f"{name} [{self._browser}]"
        elif self._project and class_name == suite:
            case.iteration = f"{name} [{self._project}]"
        if file and (self._workspace or file.endswith(_OF_NODE)):
            self._call_by_file(case)
        time = given("time")
        if time:
            case.duration_ms = milliseconds(time)
            if case.duration_ms is None:
                self.odd("unknown_time", f"The time {time[:40]!r} is none that can be read; it is left out.")
        if self._is_testcafe:
            # Where pictures are follows it, and is another place in each run.
            if name.endswith(")"):
                case.name = name.partition(" (screenshots: ")[0]
            case.failed_before = case.name.endswith(f" {_UNSTABLE}")
            case.name = case.name.removesuffix(f" {_UNSTABLE}")
        self._skipped = self._may_fail = self._is_of_ctest = False
        if not _PLAIN.issuperset(attributes):
            state, result = given("status", "").lower(), given("result", "").lower()
            self._skipped = state in _NOT_RUN or result in _NOT_RUN
            # As CTest alone writes it, for which what it could not run has failed.
            self._is_of_ctest = state == "notrun" and name == class_name
            # doctest says no other word of a suite than how many failed.
            self._counts_tests = self._counts_tests and not (state == "run" and self._is_of_doctest)
            if state in _NOT_PASSED or result in _NOT_PASSED:
                case.status = "failed"
            if "type_param" in attributes:
                case.class_name, index = split_type(class_name)
                case.iteration = f"{name} [{index}]" if index else case.iteration
            if not _SWITCHES.isdisjoint(attributes):
                self._take_switches(case, attributes)
            for key, value in attributes.items():
                if key.lower() in self._names:
                    self.properties.note(case, key, value)
        self._case = case

    def _call_by_file(self, case: Result) -> None:
        """Tell the file of a case from its workspace; name a test of JavaScript by it."""
        before = (case.class_name, case.name, case.suite, case.file)
        case.file = tell_from(self._workspace, case.file)
        if case.file.endswith(_OF_NODE):
            is_of_node = self._is_bare and not case.class_name and case.suite
            name = f"{case.suite} > {case.name}" if is_of_node else case.name
            case.class_name, case.name, _, case.place = normalise_class(case.file, case.class_name, name)
            if case.file != before[-1]:
                case.place = f"{before[-1]}\0{case.place}"
        if before != (case.class_name, case.name, case.suite, case.file):
            case.former = before

    def _take_switches(self, case: Result, attributes: Mapping[str, str]) -> None:
        executed, ignored, success = (attributes.get(name, "").lower() for name in ("executed", "ignored", "success"))
        self._skipped = self._skipped or executed == "false" or ignored == "true"
        if success == "false" and not self._skipped:
            case.status = "failed"

    def _say_why(self, case: Result, name: str, text: str) -> None:
        self._why = None
        # The text of PHPUnit begins with a line that names the test.
        is_named = case.class_name and text.startswith(f"{case.class_name}::")
        message = self._message or first_line(text.partition("\n")[2] if is_named else text) or self._type
        if name in _FAILED:
            fail(case, message, text)
            if self._message in _OF_PYTEST:
                self.odd(*_OF_PYTEST[self._message])
        elif name in _RERUN:
            # The case failed in the end: why it did before says more only where nothing else does.
            case.status = "failed"
            case.message = case.message or message
        else:
            case.failed_before = True
            case.message = case.message or message
            case.trace = case.trace or text[:16384]

    def _finish(self) -> None:
        case = self._case
        assert case is not None, "a case that ends has begun"
        self._ended += 1
        self._failed += case.status == "failed" or case.failed_before
        if self._may_fail or (self._skipped and case.status == "passed"):
            case.status = "skipped"
            self._left_out += 1
        elif case.status == "passed" and not case.failed_before:
            case.message = None
        self.found.append(case)
        self._case = None


def _number(text: str | None) -> int:
    """Return a number that a suite says, of many digits the largest that is one; 0 for none."""
    return int(text.lstrip("0")[:9] or 0) if text is not None and text.isdecimal() else 0


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a JUnit report: by its first element, of which Check has one, too."""
    head = file.read(65536)
    return 0.9 if has_root(head, *map(str.encode, ROOTS)) and b"http://check.sourceforge.net/ns" not in head else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the cases, as they end."""
    head = file.read(65536)
    file.seek(0)
    workspace = ""
    if _HAS_PATHS.search(head):
        workspace = find_workspace(map(unescape, texts_in(file, _PATHS)), as_asked.workspace)
    return results_of(file, _Cases(as_asked, workspace))


FORMAT = ResultFormat("junit", "JUnit XML", recognise, read)

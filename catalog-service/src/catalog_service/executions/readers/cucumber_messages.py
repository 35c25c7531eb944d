"""Cucumber messages: an envelope a line."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.executions.readers.json_results import a_dict, a_list, a_text, lines
from catalog_service.executions.readers.results import (
    LONGEST_MESSAGE,
    LONGEST_TRACE,
    Found,
    ReadAs,
    Result,
    ResultFormat,
    first_line,
    whole_milliseconds,
)
from catalog_service.executions.readers.steps import status_of
from chassis.core.wording import shown

_LONGEST_ROW = 200
"""Characters that are kept of what a row of an outline says."""


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is Cucumber messages: by its first lines."""
    head = file.read(65536).lstrip(b"\xef\xbb\xbf")
    if not head.startswith(b"{"):
        return 0.0
    if head.startswith(b'{"meta":') and b'"protocolVersion"' in head:
        return 0.95
    return 0.9 if b'{"pickle":' in head or b'{"gherkinDocument":' in head or b'{"testCaseStarted":' in head else 0.0


class _Messages:
    """What has been said so far that later messages refer to."""

    def __init__(self, as_asked: ReadAs) -> None:
        self._as_asked = as_asked
        self._features: dict[str, str] = {}
        self._rows: dict[str, str] = {}
        self._pickles: dict[str, dict[str, Any]] = {}
        self._cases: dict[str, str] = {}
        self._steps: dict[str, int] = {}
        """How many steps cases have, which each of their tries is to end."""
        self._begun: set[str] = set()
        self._running: dict[str, tuple[str, list[dict[str, Any]]]] = {}
        self._failed_before: set[str] = set()
        self.broken: list[str] = []
        """What failed beside the scenarios: files that are no Gherkin, hooks of the whole run, the run itself."""
        self.cut_off = 0
        """How many scenarios ended before all steps of them did, none of which failed."""
        self.has_ended = False
        self.has_failed = False
        """Whether the run says that it failed."""
        self.all_passed = True
        """Whether each scenario passed or was skipped."""

    def take(self, envelope: dict[str, Any]) -> Result | None:
        """Take a message; return the result of a scenario that has ended."""
        for kind, message in envelope.items():
            match kind:
                case "gherkinDocument":
                    feature = a_dict(message.get("feature"))
                    self._features[a_text(message.get("uri"))] = a_text(feature.get("name"))
                    self._rows |= _rows(feature)
                case "pickle":
                    names = ("uri", "name", "tags", "astNodeIds")
                    self._pickles[a_text(message.get("id"))] = {name: message.get(name) for name in names}
                case "testCase":
                    case = a_text(message.get("id"))
                    self._cases[case] = a_text(message.get("pickleId"))
                    self._steps[case] = len(a_list(message.get("testSteps")))
                case "testCaseStarted":
                    self._begun.add(a_text(message.get("testCaseId")))
                    self._running[a_text(message.get("id"))] = (a_text(message.get("testCaseId")), [])
                case "testStepFinished":
                    running = self._running.get(a_text(message.get("testCaseStartedId")))
                    if running is not None:
                        running[1].append(a_dict(message.get("testStepResult")))
                case "testCaseFinished":
                    return self._finish(message)
                case "parseError":
                    self.broken.append(first_line(a_text(message.get("message")))[:200])
                case "testRunFinished":
                    self.has_ended = True
                    self.has_failed = message.get("success") is False
                    if message.get("exception") is None:
                        continue
                    self.broken.append(first_line(a_text(message.get("message")))[:200])
                case "testRunHookFinished":
                    result = a_dict(message.get("result"))
                    if result.get("status") == "FAILED":
                        self.broken.append(first_line(a_text(result.get("message")))[:200])
        return None

    def _finish(self, message: dict[str, Any]) -> Result | None:
        case, steps = self._running.pop(a_text(message.get("testCaseStartedId")), ("", []))
        # Before version 17 of the messages, the step that failed says it.
        if any(said.get("willBeRetried") is True for said in (message, *steps)):
            self._failed_before.add(case)
            return None
        pickle = self._pickles.get(self._cases.get(case, ""), {})
        known = [a_text(step.get("status")).lower() for step in steps]
        if {"passed"}.issuperset(known) and len(known) < self._steps.get(case, 0):
            known.append("unknown")
            self.cut_off += 1
        self.all_passed = self.all_passed and {"passed", "skipped"}.issuperset(known)
        uri, name = a_text(pickle.get("uri")), a_text(pickle.get("name"))
        result = Result(
            name,
            class_name=self._features.get(uri, ""),
            file=uri,
            status=status_of(known, undefined_fails=self._as_asked.undefined_fails),
            duration_ms=_milliseconds(steps),
            failed_before=case in self._failed_before,
        )
        nodes = a_list(pickle.get("astNodeIds"))
        if len(nodes) > 1:  # a row of an outline
            row = a_text(nodes[-1])
            result.iteration = f"{name} [{self._rows.get(row, row)}]"
        if result.status == "failed":
            said = next((a_text(step.get("message")) for step in steps if step.get("message")), "")
            trace = next((a_dict(step.get("exception")).get("stackTrace") for step in steps if "exception" in step), "")
            bad = next((status for status in known if status not in ("passed", "skipped")), "failed")
            result.message = (first_line(said) or f"A step is {bad}.")[:LONGEST_MESSAGE]
            result.trace = (a_text(trace) or said)[:LONGEST_TRACE] or None
        for tag in a_list(pickle.get("tags")):
            self._as_asked.properties.note_tag(result, a_text(a_dict(tag).get("name")))
        return result

    @property
    def not_begun(self) -> int:
        """How many cases the run told of and did not begin."""
        return len(self._cases.keys() - self._begun)

    @property
    def unfinished(self) -> int:
        """How many scenarios have begun and not ended."""
        return len(self._running)


def _rows(parent: dict[str, Any]) -> dict[str, str]:
    """Return what the rows of the outlines of a feature or a rule say, by their ids."""
    found: dict[str, str] = {}
    for child in map(a_dict, a_list(parent.get("children"))):
        found |= _rows(a_dict(child.get("rule")))
        for examples in map(a_dict, a_list(a_dict(child.get("scenario")).get("examples"))):
            names = _cells(a_dict(examples.get("tableHeader")))
            for row in map(a_dict, a_list(examples.get("tableBody"))):
                said = ", ".join(f"{name}={value}" for name, value in zip(names, _cells(row), strict=False))
                found[a_text(row.get("id"))] = said[:_LONGEST_ROW]
    return found


def _cells(row: dict[str, Any]) -> list[str]:
    return [a_text(a_dict(cell).get("value")) for cell in a_list(row.get("cells"))]


def _milliseconds(steps: list[dict[str, Any]]) -> int | None:
    durations = [a_dict(step.get("duration")) for step in steps]
    parts = [
        part * unit
        for duration in durations
        for part, unit in ((duration.get("seconds"), 1e3), (duration.get("nanos"), 1e-6))
        if isinstance(part, int | float)
    ]
    return whole_milliseconds(sum(parts))


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the scenarios, as they end."""
    messages = _Messages(as_asked)
    others = 0
    for number, envelope in lines(file):
        if isinstance(envelope, bytes):
            others += 1
            continue
        for kind, message in envelope.items():
            if not isinstance(message, dict):
                raise Unreadable(f"{shown(kind)} in line {number} is to be an object.", line=number, column=1)
        result = messages.take(envelope)
        if result is not None:
            yield result
    if others:
        yield Notice("other_lines", "Lines that are no JSON objects were left out.", others)
    if messages.broken:
        detail = f"Files or hooks of the run failed beside its scenarios, the first: {messages.broken[0]}"
        yield Notice("errors_of_run", detail, len(messages.broken))
    if messages.has_ended and messages.not_begun:
        yield Notice("plan_not_kept", "The run ended before each of its scenarios had begun.", messages.not_begun)
    if messages.unfinished:
        yield Notice("unfinished", "Scenarios began and did not end; they are left out.", messages.unfinished)
    elif messages.cut_off:
        detail = "Scenarios were not seen to end: steps of them have no result."
        yield Notice("crashed", detail, messages.cut_off)
    elif not messages.has_ended and not messages.broken:
        yield Notice("crashed", "The file ends before the run does (testRunFinished): what came later is not in it.")
    elif messages.has_failed and messages.all_passed and not messages.broken:
        yield Notice("suite_failed", "The run says that it failed, and none of its scenarios has.")


FORMAT = ResultFormat("cucumber-messages", "Cucumber messages (NDJSON)", recognise, read)

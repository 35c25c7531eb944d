"""CTRF, the Common Test Report Format."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from catalog_service.exchange.records import Notice
from catalog_service.executions.javascript_names import is_javascript, normalise_javascript
from catalog_service.executions.normal_forms import normalise_playwright
from catalog_service.executions.readers.json_results import Shape, a_dict, a_duration, a_list, a_text, items, member
from catalog_service.executions.readers.results import (
    LONGEST_MESSAGE,
    LONGEST_TRACE,
    Found,
    Properties,
    ReadAs,
    Result,
    ResultFormat,
    Status,
)
from catalog_service.executions.workspaces import find_workspace, tell_from, texts_in

_SHAPE: Shape = {"retryAttempts": [{}]}
_BEGINS = re.compile(rb'"results"\s*:\s*\{\s*"(?:tool|summary|tests|environment|extra)"')
_TOOL = re.compile(rb'"tool"\s*:\s*\{\s*"name"\s*:\s*"([\w-]{1,50})"')
_PATHS = re.compile(rb'"filePath"\s*:\s*"([^"]{1,4000})"')
_UNHEALTHY = re.compile(rb'"healthy"\s*:\s*(false)')
_STATUSES: dict[str, Status] = {"passed": "passed", **dict.fromkeys(("skipped", "pending", "other", ""), "skipped")}
"""By the words of CTRF; what has another word has not passed, and nobody says that it was left out."""
_RAN = frozenset({"failed", "broken", "error", "timedout", "interrupted", "crashed"})
"""What a runner says of `other` tests that ran."""


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a CTRF report: by the names in its first bytes."""
    head = file.read(65536)
    if b'"CTRF"' in head:
        return 0.95
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return 0.0
    if all(word in head for word in (b'"results"', b'"tool"', b'"summary"', b'"tests"')):
        return 0.9
    return 0.6 if _BEGINS.search(head) else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the tests; then hold them against what the report says of them together."""
    found = failed = passed = unended = 0
    tool = _TOOL.search(file.read(65536))
    runner = tool[1].lower() if tool is not None else b""
    file.seek(0)
    workspace = find_workspace(texts_in(file, _PATHS), as_asked.workspace)
    is_of_playwright = runner == b"playwright"
    files: dict[str, tuple[str, bool]] = {}
    """How paths are told, and whether tests are named by them."""
    for test in items(file, ("results", "tests"), levels=3, shape=_SHAPE):
        result = _result(test, as_asked.properties)
        named = normalise_playwright(result.suite, result.file, result.name) if is_of_playwright else None
        former = ("", result.name, result.suite, result.file)
        if result.file not in files:
            told = tell_from(workspace, result.file)
            files[result.file] = told, is_javascript(told) and not is_of_playwright
        result.file, is_of_file = files[result.file]
        if named is not None:
            result.class_name, result.name, project, _ = named
            result.iteration = f"{named.name} [{project}]" if project else ""
        elif is_of_file:
            result.former = former
            said = test.get("suite")
            suites = map(a_text, said) if isinstance(said, list) else filter(None, result.suite.split(" > "))
            between = " > " if runner == b"vitest" else " "
            result.class_name, result.name, _, result.place = normalise_javascript(
                result.file, tuple(suites), result.name, between=between
            )
            if result.file != former[-1]:
                result.place = f"{former[-1]}\0{result.place}"  # the report may have the told path by itself, too
        elif result.file != former[-1]:
            result.former = former
        found += 1
        failed += result.status == "failed" or result.failed_before
        passed += result.status == "passed"
        unended += not test.get("status")
        yield result
    file.seek(0)
    if texts_in(file, _UNHEALTHY) and member(file, ("results", "environment")).get("healthy") is False:
        yield Notice("errors_of_run", "The report says that the environment of the tests was not healthy.")
    if unended:
        yield Notice("crashed", "Tests have no status: they were not seen to end.", unended)
    summary = member(file, ("results", "summary"))
    if _number(summary.get("tests")) > found:
        detail = f"The summary says that there are {_number(summary['tests'])} tests, and the file has {found} of them."
        yield Notice("plan_not_kept", detail)
    if _number(summary.get("failed")) > failed:
        yield Notice("suite_failed", "The summary says that more tests failed than those in the file.")
    elif _number(summary.get("passed")) > passed + failed:
        yield Notice("plan_not_kept", "The summary says that more tests passed than those in the file.")


def _number(value: Any) -> int:
    """Return a number of a summary; 0 for what is none, or none that tests are counted to."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value[:10])
    return value if isinstance(value, int) and not isinstance(value, bool) and value < 10**9 else 0


def _status(test: dict[str, Any]) -> Status:
    status = a_text(test.get("status")).lower()
    if status == "other" and a_text(test.get("rawStatus")).lower() in _RAN:
        return "failed"
    return _STATUSES.get(status, "failed")


def _result(test: dict[str, Any], properties: Properties) -> Result:
    suite = test.get("suite")
    name = a_text(test.get("name"))
    result = Result(
        name,
        suite=" > ".join(map(a_text, suite)) if isinstance(suite, list) else a_text(suite),
        file=a_text(test.get("filePath")),
        status=_status(test),
        duration_ms=a_duration(test.get("duration")),
    )
    parameters = a_dict(test.get("parameters"))
    if parameters:
        result.iteration = f"{name} [{', '.join(f'{key}={a_text(value)}' for key, value in parameters.items())}]"
    attempts = a_list(test.get("retryAttempts"))
    failed = next((attempt for attempt in attempts if attempt.get("status") == "failed"), None)
    retries = test.get("retries")
    result.failed_before = (
        test.get("flaky") is True or failed is not None or (isinstance(retries, int | float) and retries > 0)
    )
    if result.status == "failed" or result.failed_before:
        said = test if test.get("message") or failed is None else failed
        result.message = a_text(said.get("message")).strip()[:LONGEST_MESSAGE] or None
        result.trace = a_text(said.get("trace"))[:LONGEST_TRACE] or None
    for key, value in a_dict(test.get("labels")).items():
        for one in value if isinstance(value, list) else [value]:
            properties.note(result, key, a_text(one))
            if key == "externalId":
                properties.note_tag(result, a_text(one))
    for key, value in a_dict(test.get("extra")).items():
        _note_extra(result, key, value, properties)
    for tag in (test.get("testId"), *a_list(test.get("tags"))):
        properties.note_tag(result, a_text(tag))
    return result


def _note_extra(result: Result, key: str, value: Any, properties: Properties) -> None:
    """Note what a reporter keeps of its own: texts, lists and objects of them, annotations, tags."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            name = a_text(one.get("type")) or a_text(one.get("name"))
            if name:
                properties.note(result, name, a_text(one.get("description")) or a_text(one.get("value")))
            else:
                for inner, said in one.items():
                    properties.note(result, inner, a_text(said))
        elif key == "tags":
            properties.note_tag(result, a_text(one))
        else:
            properties.note(result, key, a_text(one))


FORMAT = ResultFormat("ctrf", "CTRF", recognise, read)

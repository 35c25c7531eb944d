"""The JSON reporter of Playwright."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from catalog_service.exchange.records import Notice
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
    first_line,
)

_SUITE: Shape = {"specs": [{"tests": [{"results": [{}]}]}]}
_SUITE["suites"] = [_SUITE]
_STATUSES: dict[str, Status] = {
    "expected": "passed",
    "unexpected": "failed",
    "flaky": "passed",
    "skipped": "skipped",
}

_FAILED = frozenset({"failed", "timedOut"})
"""How a run of a test ends, but for those that are to fail."""
_SKIPS = frozenset({"skip", "fixme"})
"""What a test is annotated with that was not to run."""


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is of Playwright: by the names in its first bytes."""
    head = file.read(65536)
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return 0.0
    if b'"config"' in head and b'"rootDir"' in head and b'"projects"' in head:
        return 0.95
    if all(word in head for word in (b'"suites"', b'"specs"', b'"projectName"')):
        return 0.8
    return 0.5 if b'"config"' in head and b'"suites"' in head else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the tests of each project; then errors that are of no test, and whether the run was ended before its end."""
    interrupted = failed = found = 0
    for suite in items(file, ("suites",), levels=2, shape=_SUITE):
        for result in _suite(suite, (), as_asked.properties):
            found += 1
            failed += result.status == "failed"
            yield result
        interrupted += _count_interrupted(suite)
    if interrupted:
        detail = "The run was ended before its last test, as by --max-failures or Ctrl-C: tests did not run."
        yield Notice("crashed", detail, interrupted)
    file.seek(0)
    stats = member(file, ("stats",))
    told = {name: count for name in _STATUSES if isinstance(count := stats.get(name), int)}
    if told.get("unexpected", 0) > failed:
        yield Notice("suite_failed", "The report says that more tests failed than those in the file.")
    elif sum(told.values()) > found:
        detail = f"The report says that it has {sum(told.values())} tests, and the file has {found} of them."
        yield Notice("plan_not_kept", detail)
    file.seek(0)
    errors = sum(1 for _ in items(file, ("errors",), levels=2, shape={}, needed=False))
    if errors:
        yield Notice("errors_of_run", "The run had errors of no test, such as files that could not be loaded.", errors)


def _suite(suite: dict[str, Any], above: tuple[str, ...], properties: Properties) -> Iterator[Result]:
    title, file = a_text(suite.get("title")), a_text(suite.get("file"))
    path = above if not above and title == file else (*above, title)
    for spec in a_list(suite.get("specs")):
        for test in a_list(spec.get("tests")):
            yield _result(spec, test, path, a_text(spec.get("file")) or file, properties)
    for inner in a_list(suite.get("suites")):
        yield from _suite(inner, path, properties)


def _count_interrupted(suite: dict[str, Any]) -> int:
    """Return how many tests of a suite were interrupted, or had not begun when the run was ended."""
    tests = [test for spec in a_list(suite.get("specs")) for test in a_list(spec.get("tests"))]
    here: int = sum(
        any(run.get("status") == "interrupted" for run in a_list(test.get("results")))
        or (test.get("results") == [] and not _SKIPS.intersection(_annotated(test)))
        for test in tests
    )
    return here + sum(map(_count_interrupted, a_list(suite.get("suites"))))


def _annotated(test: dict[str, Any]) -> list[str]:
    return [a_text(a_dict(annotation).get("type")) for annotation in a_list(test.get("annotations"))]


def _end(spec: dict[str, Any], test: dict[str, Any]) -> tuple[Status, bool]:
    """Return how a test ended, and whether it had failed before: where its parts do not agree, it has not passed."""
    said, tests = test.get("status"), a_list(spec.get("tests"))
    status = _STATUSES.get(a_text(said), "failed") if said else "passed" if spec.get("ok") is True else "failed"
    if status != "passed":
        return status, False
    if spec.get("ok") is False and not any(one.get("status") == "unexpected" for one in tests):
        return "failed", False
    if said == "flaky":
        return "passed", True
    expected = a_text(test.get("expectedStatus")) or ("failed" if "fail" in _annotated(test) else "passed")
    bad = frozenset({"passed"}) if expected in _FAILED else _FAILED
    ends = [a_text(run.get("status")) in bad for run in a_list(test.get("results"))]
    return "failed" if ends[-1:] == [True] else "passed", any(ends)


def _result(
    spec: dict[str, Any], test: dict[str, Any], path: tuple[str, ...], file: str, properties: Properties
) -> Result:
    name, project = " › ".join([*path, a_text(spec.get("title"))]), a_text(test.get("projectName"))
    runs = a_list(test.get("results"))
    status, failed_before = _end(spec, test)
    result = Result(
        name,
        class_name=file,
        suite=" › ".join(path),
        file=file,
        iteration=f"{name} [{project}]" if project else "",
        status=status,
        duration_ms=a_duration(runs[-1].get("duration")) if runs else None,
        failed_before=failed_before,
    )
    if result.status == "failed" or result.failed_before:
        failed: dict[str, Any] = next(
            (run for run in reversed(runs) if run.get("status") not in ("passed", "skipped")), {}
        )
        error = a_dict(failed.get("error")) or a_dict(next(iter(a_list(failed.get("errors"))), None))
        message = a_text(error.get("message"))
        result.message = first_line(message)[:LONGEST_MESSAGE] or None
        result.trace = (a_text(error.get("stack")) or message)[:LONGEST_TRACE] or None
    for tag in a_list(spec.get("tags")):
        properties.note_tag(result, a_text(tag))
    for annotation in map(a_dict, a_list(test.get("annotations"))):
        properties.note(result, a_text(annotation.get("type")), a_text(annotation.get("description")))
    return result


FORMAT = ResultFormat("playwright-json", "Playwright JSON", recognise, read)

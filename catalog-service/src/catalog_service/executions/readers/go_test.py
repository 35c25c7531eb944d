"""go test -json, and what gotestsum makes of it with reruns: an event a line."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.executions.readers.json_results import a_duration, a_text, lines
from catalog_service.executions.readers.results import (
    DEFAULT_PROPERTIES,
    LONGEST_TRACE,
    Found,
    Properties,
    ReadAs,
    Result,
    ResultFormat,
    Status,
)

_ENDS: dict[str, Status] = {"pass": "passed", "bench": "passed", "fail": "failed", "skip": "skipped"}
_SAYS_NOTHING = ("=== ", "--- ", "PASS", "FAIL", "ok  ")
_UNBUILT = re.compile(rb"FAIL\t(\S+) \[(?:build|setup) failed\]")
_PANIC = ("panic: ", "fatal error: ")
_CRASHED = re.compile(rb"(?:panic|fatal error): .*", re.DOTALL)
_FAILED = re.compile(rb"FAIL(?:\t.*)?|exit status [1-9]\d*|signal: .*", re.DOTALL)
"""What go says beside its events when it failed, of tests that failed, too."""
_SECOND = 1000.0
_LOOKED_AT = 100
"""Lines among which the first event is looked for."""


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is of go test -json: by its first lines."""
    head = file.read(65536)
    # What go says of itself may stand before the first event.
    is_json = any(line.startswith(b"{") for line in head.removeprefix(b"\xef\xbb\xbf").splitlines()[:_LOOKED_AT])
    # `go tool test2json` knows of no package unless it is told.
    return 0.95 if is_json and b'"Action":' in head and (b'"Package":' in head or b'"Test":' in head) else 0.0


@dataclass(slots=True)
class _Package:
    """Tests of a package that run, with what they print; how often each has ended, and whether one has failed.

    `attributes` of those that run: pairs of a key and a value.
    """

    running: dict[str, list[str]] = field(default_factory=dict)
    attributes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    properties: Properties = DEFAULT_PROPERTIES
    ended: Counter[str] = field(default_factory=Counter)
    has_failed: bool = False
    said: list[str] = field(default_factory=list)
    broken: int = 0
    """How often it failed beside its tests."""
    is_open: bool = False
    """Whether it has begun and not ended."""
    crashed: bool = False
    """Whether it ended while a test ran."""
    panics: bool = False
    """Whether it says outside of its tests that it panics."""
    failures: int = 0
    """How often it or a test of it failed."""


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read each test by its own line, those with subtests among them.

    One that comes again in another run of its package is another attempt.
    """
    packages: dict[str, _Package] = {}
    builds: dict[str, list[str]] = {}
    unbuilt_paths: set[str] = set()
    """What could not be built and no package has said yet that it failed by that."""
    others = 0
    broken = panics = 0
    is_told_failed = False
    for number, event in lines(file):
        if isinstance(event, bytes):
            # Before Go 1.24 no event tells that a package cannot be built.
            unbuilt = _UNBUILT.fullmatch(event)
            if unbuilt is not None:
                yield _result(unbuilt[1].decode("utf-8", "replace"), "TestMain", "failed", [], None)
                broken += 1
            panics += _CRASHED.fullmatch(event) is not None
            is_told_failed = is_told_failed or _FAILED.fullmatch(event) is not None
            others += unbuilt is None
            continue
        if not all(isinstance(event.get(name, ""), str) for name in ("Action", "Package", "Test")):
            detail = f"Action, Package and Test in line {number} are to be texts."
            raise Unreadable(detail, line=number, column=1)
        if event.get("Action") == "build-output":
            _keep(builds.setdefault(a_text(event.get("ImportPath")), []), a_text(event.get("Output")))
            continue
        if event.get("Action") == "build-fail":
            unbuilt_paths.add(a_text(event.get("ImportPath")))
            continue
        name = a_text(event.get("Package"))
        package = packages.setdefault(name, _Package(properties=as_asked.properties))
        if "FailedBuild" in event:
            package.said.extend(builds.get(a_text(event["FailedBuild"]), []))
            unbuilt_paths.discard(a_text(event["FailedBuild"]))
        yield from _results(name, package, event)
    for name, package in packages.items():
        yield from _fail_interrupted(name, package)
    broken += sum(package.broken for package in packages.values())
    broken = broken or len(unbuilt_paths)
    if is_told_failed and not broken and not any(package.failures for package in packages.values()):
        yield Notice("suite_failed", "Go says at its end that it failed, and no test of the file has.")
    if broken:
        yield Notice("errors_of_run", "Packages could not be built, or ended by themselves: tests did not run.", broken)
    unended = panics + sum(package.is_open or package.crashed for package in packages.values())
    if unended:
        yield Notice("crashed", "Packages ended before their last test did: tests did not run.", unended)
    if others:
        yield Notice("other_lines", "Lines that are no JSON objects were left out.", others)


def _results(name: str, package: _Package, event: dict[str, Any]) -> Iterator[Result]:
    action, test = a_text(event.get("Action")), a_text(event.get("Test"))
    package.is_open = not (action in _ENDS and not test)
    if action == "run":
        package.running[test] = []
    elif action == "output":
        output = a_text(event.get("Output"))
        package.panics = package.panics or (not test and output.startswith(_PANIC))
        _keep(package.running.get(test, package.said), output)
    elif action == "attr":
        package.attributes.setdefault(test, []).append((a_text(event.get("Key")), a_text(event.get("Value"))))
    elif action in _ENDS and test:
        said = package.running.pop(test, [])
        package.has_failed = package.has_failed or action == "fail"
        package.failures += action == "fail"
        result = _noted(name, package, test, _ENDS[action], said, a_duration(event.get("Elapsed"), _SECOND))
        package.ended[test] += 1
        if package.ended[test] > 1:
            # In one run of the package: `-count` repeats a test whatever it came to, and each time counts.
            result.iteration = f"{test} #{package.ended[test]}"
        yield result
    elif action in _ENDS:
        yield from _fail_interrupted(name, package, all_well=action == "pass")
        package.failures += action == "fail"
        package.crashed = package.crashed or (action == "fail" and package.panics)
        package.panics = False
        if action == "fail" and not package.has_failed:
            # Nothing of it could be built, or it ended by itself.
            package.broken += 1
            yield _result(name, "TestMain", "failed", package.said, a_duration(event.get("Elapsed"), _SECOND))
        package.has_failed = False
        package.ended.clear()
        package.attributes.clear()
        package.said.clear()


def _fail_interrupted(name: str, package: _Package, *, all_well: bool = False) -> Iterator[Result]:
    """Yield the tests that have begun and not ended: the program has. Of benchmarks that are well nothing says so."""
    for test, said in package.running.items():
        if all_well and test.startswith("Benchmark"):
            yield _noted(name, package, test, "passed", said, None)
            continue
        package.has_failed = package.crashed = True
        yield _noted(name, package, test, "failed", said, None)
    package.running.clear()


def _noted(name: str, package: _Package, test: str, status: Status, said: list[str], duration_ms: int | None) -> Result:
    """Return the result of a test with what its attributes say."""
    result = _result(name, test, status, said, duration_ms)
    for key, value in package.attributes.pop(test, ()):
        package.properties.note(result, key, value)
    return result


def _keep(lines: list[str], text: str) -> None:
    if len(lines) < 200 and not text.lstrip().startswith(_SAYS_NOTHING):
        lines.append(text[:2000])


def _result(package: str, test: str, status: Status, said: list[str], duration_ms: int | None) -> Result:
    result = Result(test, class_name=package, status=status, duration_ms=duration_ms, is_attempt=True)
    if status != "passed":
        text = "".join(said).strip()
        result.message = next((line.strip() for line in text.splitlines() if line.strip()), None)
        result.trace = text[:LONGEST_TRACE] or None
    return result


FORMAT = ResultFormat("go-test-json", "go test -json", recognise, read)

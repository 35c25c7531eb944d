"""Results of Allure 2: a zip or tar of its folder, or one result of it."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

import orjson

from catalog_service.exchange.broken_json import reason_of
from catalog_service.exchange.readers.lines import is_archive, is_meant, named, suffixes_within
from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.exchange.refusals import archive_of
from catalog_service.executions.javascript_names import normalise_allure
from catalog_service.executions.names import base_name
from catalog_service.executions.normal_forms import Named, normalise_name, normalise_playwright, normalise_robot
from catalog_service.executions.readers.json_results import Shape, a_dict, a_duration, a_list, a_text, check
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
from catalog_service.executions.readers.whole_texts import mended

_SUFFIXES = ("-result.json",)
_CONTAINERS = ("-container.json",)
_LARGEST = 16 << 20
_BOM = b"\xef\xbb\xbf"
_SHAPE: Shape = {"labels": [{}], "parameters": [{}], "links": [{}], "statusDetails": {}}
_IDS = frozenset({"as_id", "allure_id"})
"""Labels by which Allure TestOps knows a test."""
_OF_FEATURES = ("cucumber", "behave")
"""Frameworks whose class is the feature."""
_STATUSES: dict[str, Status] = {"passed": "passed", "skipped": "skipped"}


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is of Allure: by the names in an archive, or by those in one result."""
    if is_archive(file):
        try:
            with archive_of(file) as archive:
                return 0.9 if suffixes_within(archive, _SUFFIXES) else 0.0
        except Unreadable:
            return 0.1  # what is wrong with it is said when it is read
    head = file.read(65536)
    has_names = all(word in head for word in (b'"uuid"', b'"status"'))
    # Labels may stand behind many steps.
    is_result = has_names and (b'"labels"' in head or name.endswith(_SUFFIXES))
    return 0.85 * (is_result and head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"))


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the results in the order in which they began: several of one history are attempts."""
    if not is_archive(file):
        file.seek(0)
        only = _parsed(file)
        yield _result(only, as_asked.properties)
        yield from _crashed(not _has_ended(only))
        return
    with archive_of(file) as archive:
        begun = []
        for name in archive.names:
            if is_meant(name, _SUFFIXES):
                with named(name):
                    start = _parsed(archive.open(name)).get("start")
                begun.append((start if isinstance(start, int | float) else 0, name))
        if not begun:
            raise Unreadable("The archive has no result of Allure: no file ends in -result.json.")
        unended = 0
        ends: dict[str, tuple[Status, str]] = {}
        histories: dict[tuple[str, str, str], str] = {}
        for _, name in sorted(begun):
            with named(name):
                found = _parsed(archive.open(name))
                unended += not _has_ended(found)
                result, history = _result(found, as_asked.properties), a_text(found.get("historyId"))
            ends[a_text(found.get("uuid"))] = result.status, result.message or ""
            by = normalise_name(result.class_name, result.name)
            key = (by.class_name, result.iteration or by.name, result.file)
            for also in (a_text(found.get("fullName")), history):
                if result.is_attempt and histories.setdefault(key, history) != history:
                    # Another test by the same names is no attempt of the first.
                    result.iteration = f"{key[1]} [{also}]"
                    key = (key[0], result.iteration, key[2])
            yield result
        failed = 0
        for name in archive.names:
            if is_meant(name, _CONTAINERS):
                try:
                    failed += _has_failed_alone(_parsed(archive.open(name)), ends)
                except Unreadable:
                    unended += 1  # as a program leaves it that is killed meanwhile
        yield from _crashed(unended)
        if failed:
            yield Notice("suite_failed", "Fixtures failed beside the tests that they are of.", failed)


def _has_failed_alone(container: dict[str, Any], ends: dict[str, tuple[Status, str]]) -> bool:
    """Check whether a fixture of tests failed and no test of them because of it, by how tests ended and why."""
    tests = [ends[uuid] for uuid in map(a_text, a_list(container.get("children"))) if uuid in ends]
    why = {message for status, message in tests if status == "failed"}
    befores, afters = (_failed_fixtures(container.get(which)) for which in ("befores", "afters"))
    return bool(befores and not why) or any(message not in why for message in afters)


def _failed_fixtures(fixtures: Any) -> list[str]:
    """Return what fixtures say that have failed."""
    failed = [one for one in map(a_dict, a_list(fixtures)) if a_text(one.get("status")) in ("failed", "broken")]
    return [a_text(a_dict(one.get("statusDetails")).get("message")).strip()[:LONGEST_MESSAGE] for one in failed]


def _crashed(unended: int) -> Iterator[Notice]:
    if unended:
        yield Notice("crashed", "Tests or fixtures began and were not seen to end.", unended)


def _has_ended(found: dict[str, Any]) -> bool:
    """Check whether a test was seen to end; what was left for later has not begun."""
    stage = found.get("stage")
    return stage not in ("scheduled", "running") and (bool(found.get("status")) or stage == "pending")


def _parsed(file: BinaryIO) -> dict[str, Any]:
    data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise Unreadable("The result is larger than 16 MiB.", code="too_long")
    try:
        parsed = orjson.loads(mended(data.removeprefix(_BOM)))
    except orjson.JSONDecodeError as error:
        message = f"The result is no JSON: {reason_of(error)}."
        raise Unreadable(message, line=error.lineno, column=error.colno, offset=error.pos) from None
    check(BytesIO(data), len(data) - len(data.removeprefix(_BOM)), parsed, _SHAPE, ())
    result: dict[str, Any] = parsed
    return result


def _result(found: dict[str, Any], properties: Properties) -> Result:
    labels = [(a_text(label.get("name")), a_text(label.get("value"))) for label in a_list(found.get("labels"))]
    of = dict(reversed(labels))
    title = a_text(found.get("name")) or a_text(found.get("fullName"))
    suites = [of[level] for level in ("parentSuite", "suite", "subSuite") if level in of]
    before = _named_before(a_text(found.get("fullName")), of, suites, title)
    named = _named(found, of, suites, before)
    class_name, name = named.class_name, named.name
    start, stop = found.get("start"), found.get("stop")
    has_times = isinstance(start, int | float) and isinstance(stop, int | float)
    result = Result(
        name,
        class_name=class_name,
        suite=" > ".join(suites),
        file="" if class_name else a_text(found.get("fullName")),
        # What is broken has failed, and what nobody knows the end of has not passed.
        status="skipped" if found.get("stage") == "pending" else _STATUSES.get(a_text(found.get("status")), "failed"),
        duration_ms=a_duration(stop - start) if has_times else None,  # type: ignore[operator]
        is_attempt=bool(found.get("historyId")),
        place=named.place,
        iteration=named.variant,
    )
    if named[:2] != before[:2]:
        before_file = "" if before.class_name else a_text(found.get("fullName"))
        result.former = (*before[:2], result.suite, before_file)
    parameters = [one for one in a_list(found.get("parameters")) if not one.get("excluded")]
    # Those who wrote the test do not want values of other modes to be seen.
    arguments = [
        f"{a_text(one.get('name'))}={'***' if one.get('mode') == 'masked' else a_text(one.get('value'))}"
        for one in parameters
        if one.get("mode") != "hidden"
    ]
    if arguments:
        result.iteration = f"{name} [{', '.join(arguments)}]"
    if result.status == "failed":
        details = a_dict(found.get("statusDetails"))
        result.message = a_text(details.get("message")).strip()[:LONGEST_MESSAGE] or None
        result.trace = a_text(details.get("trace"))[:LONGEST_TRACE] or None
    for label, value in labels:
        if label.lower() == "tag" or (label.lower() in _IDS and properties.names.intersection(_IDS)):
            # Each test of Allure TestOps has an id of its own, which is no promise that the record knows it.
            properties.note_tag(result, value)
        else:
            properties.note(result, label, value)
    for link in a_list(found.get("links")):
        if link.get("type") == "tms":
            properties.name_test_case(result, a_text(link.get("name")))
    return result


def _named_before(full_name: str, of: dict[str, str], suites: list[str], title: str) -> Named:
    """Return what a test is called by its class and title."""
    package, place = of.get("package", ""), full_name.rpartition("#")[0]
    # pytest names the class there alone; of parameters with `::` in them it takes a part for another class.
    is_within = bool(package) and place.startswith(f"{package}.")
    if is_within and "[" in place:
        place = place.partition("[")[0].rpartition(".")[0]
    class_name = of.get("testClass") or of.get("class") or (place if is_within else _part(package, suites))
    named = None
    if of.get("framework") == "playwright":
        named = normalise_playwright(" > ".join(suites), of.get("suite", ""), title)
    elif not class_name:
        named = normalise_robot(" > ".join(suites), full_name, title)
    return named._replace(variant="") if named is not None else Named(class_name, title)


def _named(found: dict[str, Any], of: dict[str, str], suites: list[str], before: Named) -> Named:
    """Return what a test is called by, of which a title that people give it is no part, but its variant."""
    full_name, framework = a_text(found.get("fullName")), of.get("framework", "").lower()
    title_path = [a_text(one) for one in a_list(found.get("titlePath"))]
    class_name, title = before[:2]
    if framework == "playwright":
        return before
    if (of_file := normalise_allure(full_name, title_path, suites, title, framework)) is not None:
        return of_file
    if framework.startswith(_OF_FEATURES) and "feature" in of:
        return Named(of["feature"], title)
    if method := of.get("testMethod", ""):
        return before if base_name(title) == method else Named(class_name, method, title)
    method = full_name.rpartition("#" if "#" in full_name else ".")[2]
    test_case = a_text(found.get("testCaseId"))
    if test_case and method.isidentifier() and base_name(title) not in full_name:
        return Named(class_name, method, place=test_case)  # two tests of one function have an id each
    return before


def _part(package: str, suites: list[str]) -> str:
    """Return the part of a file that a test is in: two of them may have tests of one name.

    A package is the file for JavaScript; of the suites one may be it, too, and those before it are none of its parts.
    """
    is_file = [f".{package}".endswith(f".{suite.replace('/', '.')}") for suite in suites]
    within = suites[is_file.index(True) + 1 :] if True in is_file else suites
    return " > ".join([package, *within]) if package else ""


FORMAT = ResultFormat("allure", "Allure 2 results (zip)", recognise, read)

"""Cucumber JSON, as cucumber-jvm, cucumber-js, behave and others write it."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from catalog_service.exchange.records import Notice
from catalog_service.executions.normal_forms import behave_class
from catalog_service.executions.readers.json_results import Shape, a_dict, a_duration, a_list, a_text, items
from catalog_service.executions.readers.results import (
    LONGEST_MESSAGE,
    LONGEST_TRACE,
    Found,
    ReadAs,
    Result,
    ResultFormat,
    first_line,
)
from catalog_service.executions.readers.steps import NOT_WRITTEN, status_of

_OUTLINES = frozenset({"Scenario Outline", "Scenario Template"})
_NANOSECOND = 1e-6
_SECOND = 1000.0
_OF_SCENARIO = {
    "passed": "passed",
    **dict.fromkeys(("skipped", "untested"), "skipped"),
    **dict.fromkeys(("failed", "error", "hook_error", "cleanup_error"), "failed"),
}
"""What behave says of a scenario beside its steps, none of which may have run."""
_FAILED_FEATURE = frozenset({"error", "hook_error", "cleanup_error"})
"""What behave says of a feature of which a hook failed, beside its scenarios."""
_HOOK: Shape = {"result": {}}
_STEP: Shape = {**_HOOK, "before": [_HOOK], "after": [_HOOK]}
_SHAPE: Shape = {"elements": [{"before": [_STEP], "steps": [_STEP], "after": [_STEP]}]}


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is Cucumber JSON: by the names in its first bytes."""
    head = file.read(65536)
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return 0.0
    if b'"keyword"' in head and b'"elements"' in head:
        return 0.95
    if b'"elements"' in head or b'"steps"' in head:
        return 0.7
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").rstrip() == b"[]":
        return 0.3  # no scenario was chosen
    return 0.5 if b'"keyword"' in head and b'"Feature"' in head else 0.0


def read(file: BinaryIO, as_asked: ReadAs) -> Iterator[Found]:
    """Read the scenarios of each feature; what is wrong in a background is so in the scenario that it stands before."""
    broken = unended = 0
    for feature in items(file, (), levels=1, shape=_SHAPE):
        background: list[dict[str, Any]] = []
        has_failed = is_unwritten = False
        for element in a_list(feature.get("elements")):
            outcomes = _outcomes(element)
            if element.get("type") == "background":
                # behave tells what a background does by the scenarios.
                background = outcomes if any(map(_status, outcomes)) else []
                continue
            outcomes = [*background, *outcomes]
            result = _result(feature, element, outcomes, as_asked)
            has_failed = has_failed or result.status == "failed"
            is_unwritten = is_unwritten or any(_status(one) in NOT_WRITTEN for one in outcomes)
            unended += result.status == "skipped" and _is_cut_off(element, outcomes, of_behave=_is_of_behave(feature))
            yield result
            background = []
        end = a_text(feature.get("status")).lower()
        broken += not has_failed and (end in _FAILED_FEATURE or (end == "failed" and not is_unwritten))
    if unended:
        yield Notice("crashed", "Scenarios began and were not seen to end: steps of them have no result.", unended)
    if broken:
        yield Notice("suite_failed", "Features failed by hooks of their own, and none of their scenarios has.", broken)


def _outcomes(element: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results of the steps of a scenario and of all hooks."""
    found = []
    for part in ("before", "steps", "after"):
        for step in a_list(element.get(part)):
            hooks = [*a_list(step.get("before")), *a_list(step.get("after"))]
            # Some hooks say nothing but what they have put beside the report; of each step somebody says how it ended.
            ran = [one for one in (step, *hooks) if one.get("result") is not None or (one is step and part == "steps")]
            found += [a_dict(one.get("result")) for one in ran]
    return found


def _status(outcome: dict[str, Any]) -> str:
    return a_text(outcome.get("status")).lower()


def _is_cut_off(element: dict[str, Any], outcomes: list[dict[str, Any]], *, of_behave: bool) -> bool:
    """Check whether steps of a scenario have no result, although none failed and nobody says that it was left out.

    behave writes so what was not chosen; others say of each step that it was skipped.
    """
    own = _OF_SCENARIO.get(a_text(element.get("status")).lower(), "passed")
    ends = {*map(_status, outcomes)}
    return own == "passed" and (ends == {"passed", ""} or (ends == {""} and not of_behave))


def _is_of_behave(feature: dict[str, Any]) -> bool:
    return "uri" not in feature and "location" in feature


def _result(
    feature: dict[str, Any], element: dict[str, Any], outcomes: list[dict[str, Any]], as_asked: ReadAs
) -> Result:
    name = a_text(element.get("name"))
    known = [*filter(None, map(_status, outcomes))]
    if len(known) < len(outcomes):
        known.append("skipped")  # nobody has seen its end
    own = _OF_SCENARIO.get(a_text(element.get("status")).lower())
    # Of a step that nobody has written, the caller says what it means.
    if own is not None and not (own == "failed" and NOT_WRITTEN.intersection(known)):
        known.append(own)
    is_behave = _is_of_behave(feature)
    place = a_text(feature.get("location")).rpartition(":")[0] if is_behave else a_text(feature.get("uri"))
    of_feature = a_text(feature.get("name"))
    result = Result(
        name,
        class_name=behave_class(place, of_feature) if is_behave else of_feature,
        former=(of_feature, name, "", place) if is_behave else None,
        file=place,
        status=status_of(known, undefined_fails=as_asked.undefined_fails),
        duration_ms=a_duration(
            sum(one["duration"] for one in outcomes if isinstance(one.get("duration"), int | float)),
            _SECOND if is_behave else _NANOSECOND,
        ),
    )
    # Rows of an outline have one name. Their place tells them apart: `feature;outline;examples;2`, `test_outline[2]` of
    # pytest-bdd, or the line.
    *_, examples, number = ["", *a_text(element.get("id")).split(";")]
    if number.isdecimal():
        result.iteration = f"{name} #{' '.join(filter(None, (examples, number)))}"
    elif not examples and number.endswith("]") and "[" in number:
        result.iteration = f"{name} {number[number.index('[') :]}"
    elif a_text(element.get("keyword")) in _OUTLINES and element.get("line") is not None:
        result.iteration = f"{name} #line {a_text(element['line'])}"
    if result.status == "failed":
        said = next((one["error_message"] for one in outcomes if one.get("error_message")), "")
        said = "\n".join(map(a_text, said)) if isinstance(said, list) else a_text(said)
        result.trace = said[:LONGEST_TRACE] or None
        bad = next((status for status in known if status not in ("passed", "skipped")), "failed")
        result.message = (first_line(said) or f"A step is {bad}.")[:LONGEST_MESSAGE]
    for tag in (*a_list(feature.get("tags")), *a_list(element.get("tags"))):
        as_asked.properties.note_tag(result, a_text(a_dict(tag).get("name")) or a_text(tag))
    return result


FORMAT = ResultFormat("cucumber-json", "Cucumber JSON", recognise, read)

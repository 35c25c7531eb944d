"""TestRail: the XML export of a suite, sections in one another with their cases."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers.items import Draft
from catalog_service.exchange.readers.xml_cases import CaseHandler, Node, add_steps, cases_of, records_of, rest
from catalog_service.exchange.records import Record
from catalog_service.exchange.tabular.step_texts import split_numbered
from catalog_service.exchange.tabular.steps import Step
from catalog_service.exchange.vocabulary import PRIORITIES, meaning, type_of_test_case

SYSTEM = "testrail"
_TAKEN = frozenset(("id", "title", "references", "custom", "priority", "type", "estimate"))
_CUSTOM = frozenset(("preconds", "steps", "expected", "steps_separated"))
_STEP = frozenset(("index", "content", "additional_info", "expected"))
_DURATION = re.compile(r"(\d+)\s*(w|d|h|m|s)")
_MINUTES = {"w": 5 * 8 * 60.0, "d": 8 * 60.0, "h": 60.0, "m": 1.0, "s": 1 / 60}
"""Weeks and days as TestRail counts them: of five days, of eight hours."""


class _Handler(CaseHandler):
    roots = ("suite", "suites", "section", "sections")
    label = "TestRail export"
    cases = frozenset(("case",))
    suites = frozenset(("suite", "section"))


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is an export of TestRail."""
    head = file.read(65536).replace(b"\0", b"")
    return 0.9 if re.search(rb"<(suites?|sections?)[\s>]", head) and b"<section" in head and b"<case" in head else 0.0


def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the test cases, each with links to what it refers to."""
    for row, suites, node in cases_of(file, _Handler(), options):
        draft = Draft(SYSTEM, "test_case", row, node.line)
        draft.external_id = node.first("id") or None
        draft.title = node.first("title")
        custom = next(iter(node.all("custom")), Node("custom", {}, node.line))
        draft.module = suites[-1] if suites else None
        priority, kind = node.first("priority"), node.first("type")
        draft.priority = meaning(PRIORITIES, priority) if priority else None
        draft.type = type_of_test_case(kind)
        if priority:
            draft.metadata["priority"] = priority
        if kind:
            draft.metadata["type"] = kind
        if preconditions := custom.first("preconds"):
            draft.others["preconditions"] = preconditions
        if _is_automated(custom, kind):
            draft.others["automation_status"] = "automated"
        if estimate := node.first("estimate"):
            draft.metadata["estimate"] = estimate
            if minutes := _minutes(estimate):
                draft.others["execution_time_minutes"] = minutes
        parts = add_steps(draft, _steps(custom))
        if len(suites) > 1:
            draft.metadata["sections"] = suites
        draft.metadata |= rest(node, _TAKEN.__contains__)
        draft.metadata |= rest(custom, _CUSTOM.__contains__)
        of_steps = custom.all("steps_separated", "step", "refs")
        said = " ".join([node.first("references"), *(one.text for one in of_steps)])
        references = re.split(r"[,;\s]+", said)
        yield from records_of(draft, parts, references, options)


def _steps(custom: Node) -> list[Step]:
    separated = custom.all("steps_separated", "step")
    if separated:
        return [
            Step(
                one.first("content"), one.first("additional_info"), one.first("expected"), rest(one, _STEP.__contains__)
            )
            for one in separated
        ]
    actions, expected = split_numbered(custom.first("steps")), custom.first("expected")
    answers = split_numbered(expected, at_most=max(1, len(actions)))
    if len(answers) == len(actions) and len(actions) > 1:
        return [Step(action, "", answer) for action, answer in zip(actions, answers, strict=True)]
    steps = [Step(action) for action in actions]
    last = steps.pop() if steps else Step()
    return [*steps, Step(last.action, "", expected)]


def _is_automated(custom: Node, kind: str) -> bool:
    automation = custom.first("automation_type", "value") or custom.first("automation_type")
    return automation.lower() not in ("", "none", "manual") or kind.lower() == "automated"


def _minutes(estimate: str) -> int:
    return round(sum(int(number[:6]) * _MINUTES[unit] for number, unit in _DURATION.findall(estimate.lower())))


FORMAT = Format(
    name="testrail",
    label="TestRail XML",
    media_types=(),
    suffixes=(),
    recognise=recognise,
    read=read,
)

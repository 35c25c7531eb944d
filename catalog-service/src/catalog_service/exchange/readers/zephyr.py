"""Zephyr: the XML export of Zephyr Scale, and that of Jira with test issues of Zephyr Squad or Xray."""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers.items import Draft
from catalog_service.exchange.readers.xml_cases import CaseHandler, Node, add_steps, cases_of, records_of, rest
from catalog_service.exchange.records import Record
from catalog_service.exchange.tabular.step_texts import split_numbered
from catalog_service.exchange.tabular.steps import Step
from catalog_service.exchange.vocabulary import PRIORITIES, TEST_CASE_STATUSES, meaning, type_of_test_case

SYSTEM = "zephyr"
_TAKEN = frozenset(
    ("name", "objective", "precondition", "folder", "labels", "issues", "testScript", "customFields", "attachments")
)
_STEP = frozenset(("description", "testData", "expectedResult", "customFields"))
_ISSUE_TAKEN = frozenset(("title", "key", "summary", "description", "labels", "issuelinks", "customfields", "steps"))
_STEPS = ("zephyr-je-customfield-teststep", "manual-test-steps-custom-field")


class _Handler(CaseHandler):
    roots = ("project", "testCases", "testCase")
    label = "Zephyr export"
    cases = frozenset(("testCase",))


class _IssueHandler(CaseHandler):
    roots = ("rss",)
    label = "Jira export"
    cases = frozenset(("item",))


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is an export of Zephyr."""
    head = file.read(65536).replace(b"\0", b"")
    if b"<testCase" in head and (b"<testScript" in head or b"<testCases" in head or b"<folder" in head):
        return 0.9
    return 0.9 if _is_rss(head) and any(mark.encode() in head for mark in _STEPS) else 0.0


def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the test cases, each with links to the issues that it is of."""
    file.seek(0)
    issues = _is_rss(file.read(65536).replace(b"\0", b""))
    for row, _, node in cases_of(file, _IssueHandler() if issues else _Handler(), options):
        draft = Draft(SYSTEM, "test_case", row, node.line)
        steps = _of_issue(draft, node) if issues else _of_case(draft, node)
        keys = [one.text for one in _links(node, is_issue=issues)]
        yield from records_of(draft, add_steps(draft, steps), keys, options)


def _of_case(draft: Draft, node: Node) -> list[Step]:
    draft.external_id = node.attributes.get("key") or node.first("key") or None
    draft.title = node.first("name")
    draft.description = node.html("objective")
    draft.module = node.first("folder").strip("/").rpartition("/")[2]
    _classify(draft, node)
    draft.tags = [one.text for one in node.all("labels", "label")]
    if preconditions := node.html("precondition"):
        draft.others["preconditions"] = preconditions
    if folder := node.first("folder"):
        draft.metadata["folder"] = folder
    if identifier := node.attributes.get("id"):
        draft.metadata["id"] = identifier
    draft.metadata |= rest(node, _TAKEN.__contains__)
    draft.metadata |= _custom_fields(node)
    if names := [one.first("name") or one.text.strip() for one in node.all("attachments", "attachment")]:
        draft.metadata["attachments"] = [name for name in names if name]
    script = node.all("testScript")
    if not script:
        return []
    steps = sorted(script[0].all("steps", "step"), key=lambda one: _number(one.attributes.get("index", "")))
    if steps:
        return list(map(_step, steps))
    return [Step(text) for text in split_numbered(script[0].html("details") or script[0].html())]


def _step(node: Node) -> Step:
    others = rest(node, _STEP.__contains__) | _custom_fields(node)
    return Step(node.html("description"), node.html("testData"), node.html("expectedResult"), others)


def _custom_fields(node: Node) -> dict[str, Any]:
    """Return the fields of its own that a test case or a step has, as its member of custom_metadata."""
    fields: dict[str, Any] = {}
    for one in node.all("customFields", "customField"):
        values = [value.text.strip() for value in one.all("value") if value.text.strip()]
        if values and "name" in one.attributes:
            fields[one.attributes["name"]] = values[0] if len(values) == 1 else values
    return {"custom_fields": fields} if fields else {}


def _of_issue(draft: Draft, node: Node) -> list[Step]:
    draft.external_id = node.first("key") or None
    title = node.first("summary") or re.sub(r"^\[[^\]]*\]\s*", "", node.first("title"))
    draft.title = title
    draft.description = node.html("description")
    draft.module = node.first("component")
    _classify(draft, node)
    draft.tags = [one.text for one in node.all("labels", "label")]
    draft.metadata |= rest(node, _ISSUE_TAKEN.__contains__)
    fields = {}
    steps: list[Step] = []
    for one in node.all("customfields", "customfield"):
        if one.attributes.get("key", "").endswith(_STEPS):
            found = sorted(one.all("customfieldvalues", "steps", "step"), key=_place)
            steps = [Step(step.html("step"), step.html("data"), step.html("result")) for step in found]
            continue
        values = [value.text.strip() for value in one.all("customfieldvalues", "customfieldvalue")]
        if any(values) and one.first("customfieldname"):
            fields[one.first("customfieldname")] = values[0] if len(values) == 1 else values
    if fields:
        draft.metadata["custom_fields"] = fields
    return steps


def _classify(draft: Draft, node: Node) -> None:
    priority, status = node.first("priority"), node.first("status")
    draft.priority = meaning(PRIORITIES, priority) if priority else None
    draft.status = meaning(TEST_CASE_STATUSES, status) if status else None
    draft.type = type_of_test_case(node.first("component") if node.all("component") else "")


def _links(node: Node, *, is_issue: bool) -> list[Node]:
    if not is_issue:
        return node.all("issues", "issue", "key")
    ways = ("outwardlinks", "inwardlinks")
    return [key for way in ways for key in node.all("issuelinks", "issuelinktype", way, "issuelink", "issuekey")]


def _place(step: Node) -> int:
    return _number(step.first("orderId") or step.first("index"))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _is_rss(head: bytes) -> bool:
    return re.search(rb"<rss[\s>]", head) is not None


FORMAT = Format(
    name="zephyr",
    label="Zephyr XML",
    media_types=(),
    suffixes=(),
    recognise=recognise,
    read=read,
)

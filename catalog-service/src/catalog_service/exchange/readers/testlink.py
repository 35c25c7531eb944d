"""TestLink: XML of test suites with test cases, and of requirement specifications, as it exports them."""

from collections.abc import Iterator
from typing import BinaryIO

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.plain_text import text_of_html
from catalog_service.exchange.readers.items import Draft
from catalog_service.exchange.readers.xml_cases import CaseHandler, Node, add_steps, cases_of, records_of, rest
from catalog_service.exchange.records import Item, Record
from catalog_service.exchange.tabular.steps import Step

SYSTEM = "testlink"
_IMPORTANCES = {"1": "low", "2": "medium", "3": "high"}
_STATUSES = {
    "1": "draft",
    "2": "ready",
    "3": "draft",
    "4": "draft",
    "5": "deprecated",
    "6": "deprecated",
    "7": "ready",
}
"""Draft, ready for review, review in progress, rework, obsolete, future, final."""
_STATUS_NAMES = {
    "1": "draft",
    "2": "ready for review",
    "3": "review in progress",
    "4": "rework",
    "5": "obsolete",
    "6": "future",
    "7": "final",
}
_TAKEN = frozenset(
    (
        *(
            "externalid",
            "fullexternalid",
            "summary",
            "preconditions",
            "execution_type",
            "importance",
            "status",
            "steps",
        ),
        *("estimated_exec_duration", "keywords", "requirements", "custom_fields", "node_order", "expectedresults"),
    )
)


_REQUIREMENT_STATUSES = {
    "V": ("valid", "approved"),
    "D": ("draft", "draft"),
    "R": ("review", "draft"),
    "W": ("rework", "draft"),
    "F": ("finish", "approved"),
    "I": ("implemented", "implemented"),
    "N": ("not testable", "approved"),
    "O": ("obsolete", "closed"),
}
"""What each letter stands for there, and what that is here."""
_REQUIREMENT_TYPES = {
    "1": ("informational", "functional"),
    "2": ("feature", "functional"),
    "3": ("use case", "functional"),
    "4": ("user interface", "functional"),
    "5": ("non-functional", "non_functional"),
    "6": ("constraint", "non_functional"),
    "7": ("system function", "functional"),
}
_TAKEN_OF_REQUIREMENT = frozenset(
    ("docid", "title", "description", "status", "type", "custom_fields", "node_order", "attachments")
)


class _Handler(CaseHandler):
    roots = ("testsuite", "testcases", "testcase", "testproject", "requirement-specification", "requirements")
    label = "TestLink export"
    cases = frozenset(("testcase", "requirement"))
    suites = frozenset(("testsuite", "req_spec"))


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a TestLink export: JUnit has the same tags around others."""
    head = file.read(65536).replace(b"\0", b"")
    if b"<docid" in head and (b"<requirement-specification" in head or b"<requirements" in head):
        return 0.9
    if b"<testcase" not in head or (b"<testsuite" not in head and b"<testcases" not in head):
        return 0.0
    marks = (b"<externalid", b"<summary", b"<execution_type", b"<preconditions", b"<importance", b"<step_number")
    return min(0.9, 0.35 * sum(mark in head for mark in marks))


def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the requirements, and the test cases, each with its links to requirements behind it."""
    for row, suites, node in cases_of(file, _Handler(), options):
        if node.tag == "testcase":
            yield from _test_case(row, suites, node, options)
        elif options.kind in ("all", "requirements"):
            yield _requirement(row, suites, node, options)


def _requirement(row: int, suites: list[str], node: Node, options: ReadOptions) -> Item:
    draft = Draft(SYSTEM, "requirement", row, node.line)
    number = node.first("docid")
    draft.external_id = options.external_id_prefix + number if number else None
    draft.title = node.first("title")
    draft.description = node.html("description")
    status, draft.status = _REQUIREMENT_STATUSES.get(node.first("status"), ("", None))
    kind, draft.type = _REQUIREMENT_TYPES.get(node.first("type"), ("", None))
    draft.metadata |= {name: word for name, word in (("status", status), ("type", kind)) if word}
    _place(draft, suites)
    draft.metadata |= rest(node, _TAKEN_OF_REQUIREMENT.__contains__) | _custom_fields(node)
    return draft.item(options.system)


def _test_case(row: int, suites: list[str], node: Node, options: ReadOptions) -> Iterator[Record]:
    draft = Draft(SYSTEM, "test_case", row, node.line)
    number = node.first("fullexternalid") or node.first("externalid") or node.attributes.get("internalid", "")
    draft.external_id = number or None
    draft.title = node.attributes.get("name", "")
    draft.description = node.html("summary")
    draft.priority = _IMPORTANCES.get(node.first("importance"))
    status = node.first("status")
    draft.status = _STATUSES.get(status)
    draft.tags = [one.attributes.get("name", "") for one in node.all("keywords", "keyword")]
    if preconditions := node.html("preconditions"):
        draft.others["preconditions"] = preconditions
    if node.first("execution_type") == "2":
        draft.others["automation_status"] = "automated"
    minutes = node.first("estimated_exec_duration")
    if _is_number(minutes):
        draft.others["execution_time_minutes"] = round(float(minutes))
    parts = add_steps(draft, _steps(node))
    _place(draft, suites)
    if "internalid" in node.attributes:
        draft.metadata["internal_id"] = node.attributes["internalid"]
    if status in _STATUS_NAMES:
        draft.metadata["status"] = _STATUS_NAMES[status]
    draft.metadata |= rest(node, _TAKEN.__contains__) | _custom_fields(node)
    requirements = node.all("requirements", "requirement")
    yield from records_of(draft, parts, [one.first("doc_id") for one in requirements], options)


def _place(draft: Draft, suites: list[str]) -> None:
    draft.module = suites[-1] if suites else None
    if len(suites) > 1:
        draft.metadata["suites"] = suites


def _custom_fields(node: Node) -> dict[str, dict[str, str]]:
    fields = node.all("custom_fields", "custom_field")
    values = {one.first("name"): one.first("value") for one in fields if one.first("value")}
    return {"custom_fields": values} if values else {}


def _is_number(text: str) -> bool:
    try:
        return 0 <= float(text) < 2**31
    except ValueError:
        return False


def _steps(node: Node) -> list[Step]:
    steps = node.all("steps", "step")
    if steps:
        numbers = [one.first("step_number") for one in steps]
        if all(number.isdecimal() and len(number) < 10 for number in numbers):
            steps = [one for _, one in sorted(zip(map(int, numbers), steps, strict=True), key=lambda step: step[0])]
        return [Step(one.html("actions"), "", one.html("expectedresults")) for one in steps]
    # Before version 1.9 a test case had one text for all its steps.
    return [Step(text_of_html(node.first("steps")), "", node.html("expectedresults"))]


FORMAT = Format(
    name="testlink",
    label="TestLink XML",
    media_types=(),
    suffixes=(".testproject.xml", ".testsuite.xml", ".testproject-deep.xml", ".testsuite-deep.xml", ".testcase.xml"),
    recognise=recognise,
    read=read,
)

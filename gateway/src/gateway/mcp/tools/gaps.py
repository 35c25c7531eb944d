"""The tool `gaps`: what is missing or in doubt, each with its reason."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from chassis.core.problems import Invalid
from gateway.mcp.arguments import Arguments
from gateway.mcp.record import Json, Named, Record, named
from gateway.mcp.tools.tool import Tool

_MOST = 20
_OF_EACH = 3
_VERDICTS = {"failing": "failed", "flaky": "flaky", "stale": "stale", "partial": "partial", "not_run": "not_run"}
_SAYINGS = {
    "failed": "{failed} of {tests_linked} linked test cases fail",
    "flaky": "{flaky} of {tests_linked} linked test cases pass and fail with the same code",
    "stale": "{stale} of {tests_linked} linked test cases passed too long ago, or before a change",
    "partial": "{tests_run} of {tests_linked} linked test cases have run",
    "not_run": "no linked test case has a result that counts",
}

GapKind = Literal[
    "uncovered",
    "failing",
    "flaky",
    "stale",
    "partial",
    "not_run",
    "suspect",
    "suspect_relations",
    "without_parent",
    "unlinked_test_cases",
]
_ROLLING = {"relation_type": "refines,derives_from"}
_NOT_OF_PRIORITY: GapKind = "unlinked_test_cases"

_REQUIREMENTS: Mapping[GapKind, Json] = {
    # What others below cover whole is no gap.
    "uncovered": {"coverage": "none", "rolled_coverage": "!covered_below"},
    "suspect_relations": {"relation_suspect": True},
    "without_parent": {"has_parent": False, "has_children": False, "derived": False},
}
"""Kinds that the list of requirements finds, by its filters."""
_REASONS: Mapping[GapKind, str] = {
    "uncovered": "no test case is linked",
    "unlinked_test_cases": "no requirement is linked",
    "suspect_relations": "it, or a requirement above or below it, has changed since the two were related",
    "without_parent": "no requirement is above it, and none below",
}


class GapsArguments(Arguments):
    kind: Annotated[
        GapKind | None,
        Field(description=f"One kind, {_MOST} rows at most; without it how many of each, and the first {_OF_EACH}."),
    ] = None
    module: Annotated[str | None, Field(description="Modules; commas between alternatives, a leading ! excludes.")] = (
        None
    )
    priority: Annotated[
        str | None, Field(description="critical, high, medium or low; commas between alternatives.")
    ] = None
    branch: Annotated[str | None, Field(description="Whose results count; by default the main one's.")] = None
    limit: Annotated[int, Field(ge=1, le=_MOST)] = _MOST
    after: Annotated[str | None, Field(description="`next` of the answer before, with the same kind and filters.")] = (
        None
    )


class Gap(TypedDict):
    kind: GapKind
    id: str
    key: NotRequired[str | None]
    title: NotRequired[str]
    module: NotRequired[str | None]
    priority: NotRequired[str | None]
    requirement: NotRequired[Named]
    test_case: NotRequired[Named]
    reason: str


class Gaps(TypedDict):
    totals: dict[str, int]
    items: list[Gap]
    next: str | None
    shortened: NotRequired[bool]


async def _run(record: Record, asked: GapsArguments) -> Gaps:
    if asked.kind is not None:
        total, items, following = await _of_kind(record, asked, asked.kind, asked.limit)
        return {"totals": {asked.kind: total}, "items": items, "next": following}
    if asked.after is not None:
        raise Invalid("Say the kind whose rows go on: `next` is of one kind alone.")
    kinds = [kind for kind in get_args(GapKind) if asked.priority is None or kind != _NOT_OF_PRIORITY]
    found = await asyncio.gather(*(_of_kind(record, asked, kind, min(_OF_EACH, asked.limit)) for kind in kinds))
    return {
        "totals": {kind: total for kind, (total, _, _) in zip(kinds, found, strict=True)},
        "items": [row for _, rows, _ in found for row in rows],
        "next": None,
    }


async def _of_kind(
    record: Record, asked: GapsArguments, kind: GapKind, limit: int
) -> tuple[int, list[Gap], str | None]:
    page: dict[str, Any] = {"limit": limit, "after": asked.after}
    filters = {"module": asked.module, "priority": asked.priority}
    if kind == "suspect":
        return await _suspect(record, filters, page)
    if kind in _REQUIREMENTS:
        if kind == "without_parent" and not (await record.get("/relations", **_ROLLING, limit=1))["total"]:
            return 0, [], None  # nobody has said yet what is above what
        found = await record.get("/requirements", **filters, **_REQUIREMENTS[kind], **page, sort="priority:desc")
    elif kind == "unlinked_test_cases":
        found = await record.get("/test-cases", linked=False, **filters, **page)
    else:
        found = await record.get(
            "/reports/verification", verdict=_VERDICTS[kind], branch=asked.branch, **filters, **page
        )
    return found["total"], [_item(kind, row) for row in found["items"]], found["next_after"]


async def _suspect(record: Record, filters: Json, page: Json) -> tuple[int, list[Gap], str | None]:
    """Return suspect links; with filters those of the requirements that these find."""
    found = await record.get("/reports/gaps", **filters, **page)
    links = found["suspect_links"]
    # The report has two lists more, which may go on where this one ends.
    following = found["next_after"] if len(links["items"]) == page["limit"] else None
    return links["total"], [_suspect_link(link) for link in links["items"]], following


def _item(kind: GapKind, row: Json) -> Gap:
    reason = _REASONS.get(kind) or _SAYINGS[row["verdict"]].format(**row["counts"])
    return {
        "kind": kind,
        "id": row["id"],
        "key": row["external_id"],
        "title": row["title"],
        "module": row["module"],
        "priority": row.get("priority"),
        "reason": reason,
    }


def _suspect_link(link: Json) -> Gap:
    return {
        "kind": "suspect",
        "id": link["id"],
        "requirement": named(link["requirement"]),
        "test_case": named(link["test_case"]),
        "reason": link["suspect_reason"]["summary"],
    }


GAPS = Tool(
    "gaps",
    "What is missing or in doubt",
    "Requirements without a test case, failing, flaky, stale, partly or not run ones, suspect links (`id` is the"
    " link's), requirements with a suspect relation or, in a project that relates them, above and below no other, and"
    " test cases without a requirement, each with its reason.",
    GapsArguments,
    Gaps,
    _run,
)

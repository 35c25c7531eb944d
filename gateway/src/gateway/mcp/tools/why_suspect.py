"""The tool `why_suspect`: what changed since a link was made or last confirmed, word by word."""

import asyncio
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chassis.core.problems import Invalid
from gateway.mcp.arguments import Arguments
from gateway.mcp.record import REQUIREMENT, TEST_CASE, Json, Record, find_item, in_path
from gateway.mcp.tools.tool import Tool

_MOST = 5
_AROUND = 80
"""Characters of what stayed the same that are shown on each side of a change."""


class WhySuspectArguments(Arguments):
    link: Annotated[str | None, Field(description="The id of a link; or say an item, by id or key.")] = None
    requirement: Annotated[
        str | None, Field(description="Of all its suspect links, and with test_case of that one.")
    ] = None
    test_case: str | None = None
    limit: Annotated[int, Field(ge=1, le=_MOST)] = _MOST
    after: Annotated[str | None, Field(description="`next` of the answer before, with the same arguments.")] = None


class Side(TypedDict):
    id: str
    key: str | None
    title: str
    from_version: int
    to_version: int
    differences: dict[str, Any]
    changed_by: list[dict[str, Any]]


class Suspicion(TypedDict):
    link_id: str
    suspect: bool
    summary: str | None
    requirement: Side
    test_case: Side


class Suspicions(TypedDict):
    items: list[Suspicion]
    total: int
    next: str | None
    shortened: NotRequired[bool]


async def _run(record: Record, asked: WhySuspectArguments) -> Suspicions:
    if asked.link is not None:
        ids, total, following = [asked.link], 1, None
    else:
        ids, total, following = await _links_of(record, asked)
    found = await asyncio.gather(*(record.get(f"/links/{in_path(id_)}/suspicion") for id_ in ids))
    return {"items": [_suspicion(one) for one in found], "total": total, "next": following}


async def _links_of(record: Record, asked: WhySuspectArguments) -> tuple[list[str], int, str | None]:
    filters = {}
    for kind, name in ((REQUIREMENT, asked.requirement), (TEST_CASE, asked.test_case)):
        if name is not None:
            filters[f"{kind}_id"] = (await find_item(record, name, (kind,)))["id"]
    if not filters:
        raise Invalid("Say a link, a requirement or a test_case; gaps with kind 'suspect' lists all.")
    page = await record.get("/links", suspect=True, **filters, fields="id", limit=asked.limit, after=asked.after)
    return [link["id"] for link in page["items"]], page["total"], page["next_after"]


def _suspicion(one: Json) -> Suspicion:
    return {
        "link_id": one["link_id"],
        "suspect": one["suspect"],
        "summary": one["summary"],
        "requirement": _side(one["requirement"]),
        "test_case": _side(one["test_case"]),
    }


def _side(side: Json) -> Side:
    return {
        "id": side["id"],
        "key": side["external_id"],
        "title": side["title"],
        "from_version": side["from_version"],
        "to_version": side["to_version"],
        "differences": {field: _short(parts) for field, parts in side["differences"].items()},
        "changed_by": side["changed_by"],
    }


def _short(parts: Any) -> Any:
    """Return the parts of a difference; of long ones that stayed the same, their ends beside the changes."""
    if not isinstance(parts, list):
        return parts
    return [
        {**part, "text": f"{part['text'][:_AROUND]} … {part['text'][-_AROUND:]}"}
        if part["op"] == "equal" and len(part["text"]) > 2 * _AROUND + 3
        else part
        for part in parts
    ]


WHY_SUSPECT = Tool(
    "why_suspect",
    "Why a link is suspect",
    "For a link, or the suspect links of an item, 5 at once: what changed on each side since somebody made or confirmed"
    " it, as parts that stayed equal, were deleted or inserted, and who changed it.",
    WhySuspectArguments,
    Suspicions,
    _run,
)

"""The tool `trace`: what an item is linked with, and what results say of that."""

import asyncio
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chassis.core.problems import Invalid
from gateway.mcp.arguments import Arguments
from gateway.mcp.record import REQUIREMENT, TEST_CASE, Json, Record, find_item
from gateway.mcp.tools.tool import Tool

_MOST = 20
_PARTS = ("links", "parents", "children")


class TraceArguments(Arguments):
    item: Annotated[str, Field(min_length=1, description="Its id or key.")]
    type: Annotated[
        Literal["requirement", "test_case"] | None, Field(description="Where both kinds have an item of this key.")
    ] = None
    branch: Annotated[str | None, Field(description="Whose results count; by default the main one's.")] = None
    limit: Annotated[int, Field(ge=1, le=_MOST, description="Of each: links, parents, children.")] = _MOST
    after: Annotated[str | None, Field(description="`next` of the answer before, with the same item.")] = None


class Step(TypedDict):
    type: Literal["requirement", "test_case"]
    id: str
    key: str | None
    title: str
    link_id: NotRequired[str]
    link_type: NotRequired[str]
    relation_id: NotRequired[str]
    relation_type: NotRequired[str]
    suspect: bool
    verdict: str | None
    verified: NotRequired[bool]
    reasons: NotRequired[list[str]]


class Trace(TypedDict):
    item: dict[str, Any]
    up: list[Step]
    down: list[Step]
    totals: dict[str, int]
    next: str | None
    shortened: NotRequired[bool]


async def _run(record: Record, asked: TraceArguments) -> Trace:
    kinds = (REQUIREMENT, TEST_CASE) if asked.type is None else (asked.type,)
    item = await find_item(record, asked.item, kinds)
    kind, id_ = item["kind"], item["id"]
    other = TEST_CASE if kind == REQUIREMENT else REQUIREMENT
    parts = _parts(kind, asked.after)
    links, parents, children = await asyncio.gather(
        *(
            _page(record, path, part, parts, limit=asked.limit, **{side: id_})
            for part, path, side in (
                ("links", "/links", f"{kind}_id"),
                ("parents", "/relations", "child_id"),
                ("children", "/relations", "parent_id"),
            )
        )
    )
    related = [row[f"{side}_id"] for side, page in (("parent", parents), ("child", children)) for row in page["items"]]
    linked = [link[f"{other}_id"] for link in links["items"]]
    own = {REQUIREMENT: [*related], TEST_CASE: []}
    own[kind].append(id_)
    own[other] += linked
    requirements, test_cases = await asyncio.gather(
        *(_verdicts(record, one, own[one], asked.branch) for one in (REQUIREMENT, TEST_CASE))
    )
    verdicts = requirements | test_cases
    steps = [_step(link, other, link[other], verdicts) for link in links["items"]]
    above = [_step(row, REQUIREMENT, row["parent"], verdicts) for row in parents["items"]]
    below = [_step(row, REQUIREMENT, row["child"], verdicts) for row in children["items"]]
    return {
        "item": {"type": kind, "id": id_, "key": item["external_id"], "title": item["title"], **verdicts.get(id_, {})},
        "up": above if kind == REQUIREMENT else steps,
        "down": [*below, *steps] if kind == REQUIREMENT else [],
        "totals": {
            part: page["total"] for part, page in zip(_PARTS, (links, parents, children), strict=True) if part in parts
        },
        "next": _next(links, parents, children),
    }


def _parts(kind: str, after: str | None) -> dict[str, str | None]:
    """Return which lists are asked for, each with where it goes on; a test case has no relations."""
    if after is None:
        return dict.fromkeys(_PARTS if kind == REQUIREMENT else _PARTS[:1])
    parts = dict(part.split(":", 1) for part in after.split(" ") if ":" in part)
    if not parts or not parts.keys() <= set(_PARTS):
        raise Invalid("after: send `next` of the answer before, as it is.")
    return {**parts}


def _next(*pages: Json) -> str | None:
    ends = [f"{part}:{page['next_after']}" for part, page in zip(_PARTS, pages, strict=True) if page["next_after"]]
    return " ".join(ends) or None


async def _page(record: Record, path: str, part: str, parts: dict[str, str | None], **asked: Any) -> Json:
    if part not in parts:
        return {"items": [], "total": 0, "next_after": None}
    return await record.get(path, **asked, expand="items", after=parts[part])


async def _verdicts(record: Record, kind: str, ids: list[str], branch: str | None) -> dict[str, Json]:
    if not ids:
        return {}
    asked = {"ids": ids, "branch": branch, "limit": len(ids)}
    if kind == REQUIREMENT:
        page = await record.get("/reports/verification", **asked, fields="id,verdict,verified")
        return {row["id"]: {"verdict": row["verdict"], "verified": row["verified"]} for row in page["items"]}
    page = await record.get("/reports/test-case-verdicts", **asked, fields="id,verdict,reasons")
    return {
        row["id"]: {"verdict": row["verdict"], "reasons": [one["message"] for one in row["reasons"]]}
        for row in page["items"]
    }


def _step(row: Json, kind: Any, item: Json, verdicts: dict[str, Json]) -> Step:
    """Return what a link or a relation leads to."""
    verdict = verdicts.get(item["id"], {})
    step: Step = {
        "type": kind,
        "id": item["id"],
        "key": item["external_id"],
        "title": item["title"],
        "suspect": row["suspect"],
        "verdict": verdict.get("verdict"),
    }
    if "relation_type" in row:
        step["relation_id"], step["relation_type"] = row["id"], row["relation_type"]
    else:
        step["link_id"], step["link_type"] = row["id"], row["link_type"]
    if "verified" in verdict:
        step["verified"] = verdict["verified"]
    if verdict.get("reasons"):
        step["reasons"] = verdict["reasons"]
    return step


TRACE = Tool(
    "trace",
    "What an item is linked with",
    "Up to requirements above and down to those below and to test cases, one step each way, with the verdict of"
    " results and whether the link is suspect: what a change of the item touches. Go on from there with another"
    " call.",
    TraceArguments,
    Trace,
    _run,
)

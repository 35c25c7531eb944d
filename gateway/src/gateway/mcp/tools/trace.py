"""The tool `trace`: what an item is linked with, and what results say of that."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gateway.mcp.arguments import Arguments
from gateway.mcp.record import REQUIREMENT, TEST_CASE, Json, Record, find_item
from gateway.mcp.tools.tool import Tool

_MOST = 20


class TraceArguments(Arguments):
    item: Annotated[str, Field(min_length=1, description="Its id or key.")]
    type: Annotated[
        Literal["requirement", "test_case"] | None, Field(description="Where both kinds have an item of this key.")
    ] = None
    branch: Annotated[str | None, Field(description="Whose results count; by default the main one's.")] = None
    after: Annotated[str | None, Field(description="`next` of the answer before.")] = None


class Step(TypedDict):
    type: Literal["requirement", "test_case"]
    id: str
    key: str | None
    title: str
    link_id: str
    link_type: str
    suspect: bool
    verdict: str | None
    verified: NotRequired[bool]
    reasons: NotRequired[list[str]]


class Trace(TypedDict):
    item: dict[str, Any]
    up: list[Step]
    down: list[Step]
    total: int
    next: str | None
    shortened: NotRequired[bool]


async def _run(record: Record, asked: TraceArguments) -> Trace:
    kinds = (REQUIREMENT, TEST_CASE) if asked.type is None else (asked.type,)
    item = await find_item(record, asked.item, kinds, fields="id,external_id,title,version")
    kind = item["kind"]
    other = TEST_CASE if kind == REQUIREMENT else REQUIREMENT
    page = await record.get("/links", **{f"{kind}_id": item["id"]}, expand="items", limit=_MOST, after=asked.after)
    ids = [link[f"{other}_id"] for link in page["items"]]
    verdicts = await _verdicts(record, other, ids, asked.branch)
    (own,) = (await _verdicts(record, kind, [item["id"]], asked.branch)).values()
    steps = [_step(link, other, verdicts.get(link[f"{other}_id"], {})) for link in page["items"]]
    here = {"type": kind, "id": item["id"], "key": item["external_id"], "title": item["title"], **own}
    return {
        "item": here,
        "up": steps if kind == TEST_CASE else [],
        "down": steps if kind == REQUIREMENT else [],
        "total": page["total"],
        "next": page["next_after"],
    }


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


def _step(link: Json, kind: Any, verdict: Json) -> Step:
    item = link[kind]
    step: Step = {
        "type": kind,
        "id": item["id"],
        "key": item["external_id"],
        "title": item["title"],
        "link_id": link["id"],
        "link_type": link["link_type"],
        "suspect": link["suspect"],
        "verdict": verdict.get("verdict"),
    }
    if "verified" in verdict:
        step["verified"] = verdict["verified"]
    if verdict.get("reasons"):
        step["reasons"] = verdict["reasons"]
    return step


TRACE = Tool(
    "trace",
    "What an item is linked with",
    "Up to requirements and down to test cases, each with the verdict of results and whether the link is suspect: what"
    " a change of the item touches.",
    TraceArguments,
    Trace,
    _run,
)

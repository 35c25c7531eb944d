"""The tool `get`: all that is known of a few items."""

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chassis.core.problems import Invalid
from chassis.core.wording import listed, nearest, shown
from gateway.mcp.arguments import Arguments
from gateway.mcp.record import PATHS, REQUIREMENT, TEST_CASE, Json, Record, find_items, named, no_such_item
from gateway.mcp.results import fit, has_lost_rows
from gateway.mcp.tools.tool import Tool

MOST = 10
_CHANGES = 5
_LINKS = 20
_PART = 6_000
"""Characters of a text that is read in parts."""
_RENAMED = {"external_id": "key", "kind": "type", "type": "category"}


class GetArguments(Arguments):
    items: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=255)]],
        Field(min_length=1, max_length=MOST, description="Ids or keys such as REQ-3: at most 10."),
    ]
    type: Annotated[
        Literal["requirement", "test_case"] | None, Field(description="Where both kinds have items of these keys.")
    ] = None
    fields: Annotated[
        list[str] | None,
        Field(description='Members of the items alone, whole; one of one item comes in parts: ["description"].'),
    ] = None
    after: Annotated[
        str | None, Field(pattern=r"^[0-9]{1,9}$", description="`next` of the answer before: goes on in that text.")
    ] = None


class Got(TypedDict):
    items: list[dict[str, Any]]
    not_found: list[str]
    left_out: NotRequired[list[str]]
    next: str | None
    shortened: NotRequired[bool]


async def read_items(record: Record, asked: GetArguments) -> Got:
    """Return the items with all that is known of them, or the fields that are asked for; raise Refusal or NotFound."""
    kinds = (REQUIREMENT, TEST_CASE) if asked.type is None else (asked.type,)
    names = list(dict.fromkeys(asked.items))
    found = await find_items(record, names, kinds, whole=True)
    if not found:
        raise no_such_item(names, kinds)
    missing = [name for name in names if name not in found]
    rows = [_renamed(found[name]) for name in names if name in found]
    if asked.fields is not None:
        return _fields_alone(rows, asked.fields, missing, int(asked.after or 0))
    of_kind = {kind: [row for row in rows if row["type"] == kind] for kind in PATHS}
    await asyncio.gather(
        *(_add_links(record, kind, here) for kind, here in of_kind.items()),
        *(_add_pending(record, kind, here) for kind, here in of_kind.items()),
        *(_add_changes(record, row) for row in rows),
    )
    return _fitting({"items": rows, "not_found": missing, "next": None})


def _fitting(got: Got) -> Got:
    """Leave out the last items as long as these have no room, and say so."""
    left_out: list[str] = []
    told: Json = {**got}
    while len(got["items"]) > 1 and has_lost_rows(told, fit(told)):
        row = got["items"].pop()
        got["left_out"] = left_out = [row["key"] or row["id"], *left_out]
        told = {**got}
    return got


def _renamed(row: Json) -> Json:
    """Return an item as tools call its members: `type` says which of both it is everywhere."""
    left_out = {"etag", "created_by", "created_at"}
    plain = {_RENAMED.get(name, name): value for name, value in row.items() if name not in left_out}
    return {name: value for name, value in plain.items() if value not in (None, [], {})} | {"key": row["external_id"]}


def _fields_alone(rows: list[Json], fields: list[str], missing: list[str], begin: int) -> Got:
    known = {name for row in rows for name in row}
    for name in fields:
        if name not in known:
            meant = nearest(name, known)
            hint = f"did you mean '{meant}'?" if meant else f"there is {listed(sorted(known), 'and')}."
            raise Invalid(f"These items have nothing in a field {shown(name)}; {hint}", code="unknown_field")
    chosen = [{name: row[name] for name in ("type", "id", "key", *fields) if name in row} for row in rows]
    following = None
    if len(chosen) == len(fields) == 1 and isinstance(chosen[0][fields[0]], str):
        text = chosen[0][fields[0]]
        chosen[0][fields[0]] = text[begin : begin + _PART]
        following = str(begin + _PART) if begin + _PART < len(text) else None
    return _fitting({"items": chosen, "not_found": missing, "next": following})


async def _add_links(record: Record, kind: str, rows: list[Json]) -> None:
    if not rows:
        return
    verdicts, links = await asyncio.gather(
        _verdicts(record, kind, _ids(rows)), _of_each(record, "/links", kind, rows, MOST * _LINKS, expand="items")
    )
    other = TEST_CASE if kind == REQUIREMENT else REQUIREMENT
    for row in rows:
        row |= verdicts.get(row["id"], {})
        row["links"] = [_link(link, other) for link in links[row["id"]]["items"]]
        row["links_total"] = links[row["id"]]["total"]


async def _of_each(record: Record, path: str, kind: str, rows: list[Json], most: int, **asked: Any) -> dict[str, Json]:
    """Return what a list has of each item, and its `total`: by one request where that finds all of them."""
    side = f"{kind}_id"
    page = await record.get(path, **{side: _ids(rows)}, **asked, limit=most)
    if page["total"] <= len(page["items"]):
        found = {row["id"]: [one for one in page["items"] if one[side] == row["id"]] for row in rows}
        return {id_: {"items": items, "total": len(items)} for id_, items in found.items()}
    if len(rows) == 1:
        return {rows[0]["id"]: page}
    pages = await asyncio.gather(
        *(record.get(path, **{side: row["id"]}, **asked, limit=most // len(rows)) for row in rows)
    )
    return {row["id"]: own for row, own in zip(rows, pages, strict=True)}


async def _verdicts(record: Record, kind: str, ids: str) -> dict[str, Json]:
    if kind == REQUIREMENT:
        page = await record.get("/reports/verification", ids=ids, fields="id,verdict,verified,counts", limit=MOST)
    else:
        page = await record.get("/reports/test-case-verdicts", ids=ids, fields="id,verdict,reasons", limit=MOST)
    return {row.pop("id"): row for row in page["items"]}


def _link(link: Json, other: str) -> Json:
    told: Json = {
        "link_id": link["id"],
        "link_type": link["link_type"],
        other: named(link[other]),
        "suspect": link["suspect"],
    }
    if link["suspect"]:
        told["suspect_reason"] = link["suspect_reason"]["summary"]
    return told


async def _add_pending(record: Record, kind: str, rows: list[Json]) -> None:
    """Add what waits for people: what agents proposed and what the engine suggests for each item."""
    if not rows:
        return
    other = TEST_CASE if kind == REQUIREMENT else REQUIREMENT
    most = MOST * _CHANGES
    proposals, suggestions = await asyncio.gather(
        _of_each(record, "/proposals", kind, rows, most, status="pending"),
        _of_each(record, "/suggestions", kind, rows, most, status="pending", sort="score:desc"),
    )
    for row in rows:
        row["pending_total"] = proposals[row["id"]]["total"] + suggestions[row["id"]]["total"]
        row["pending"] = [
            *(
                {
                    "proposal_id": one["id"],
                    "kind": one["kind"],
                    other: one[other] and named(one[other]),
                    "agent": one["agent"]["name"],
                }
                for one in proposals[row["id"]]["items"][:_CHANGES]
            ),
            *(
                {"suggestion_id": one["id"], other: one[other] and named(one[other]), "score": one["similarity_score"]}
                for one in suggestions[row["id"]]["items"][:_CHANGES]
            ),
        ]


async def _add_changes(record: Record, row: Json) -> None:
    page = await record.get(f"{PATHS[row['type']]}/{row['id']}/history", limit=_CHANGES)
    row["changes"] = [
        {
            "version": one["to_version"],
            "action": one["action"],
            "by": one["actor"],
            "at": one["occurred_at"],
            "fields": sorted(one["changes"]) if one["action"] == "updated" else [],
        }
        for one in page["items"]
    ]


def _ids(rows: Iterable[Json]) -> str:
    return ",".join(row["id"] for row in rows)


GET = Tool(
    "get",
    "Read items",
    "Up to 10 requirements or test cases, by key or id: fields, links with what is suspect, the verdict of results,"
    " what waits for review, and the last 5 changes. `links_total` and `pending_total` count what is not shown, too;"
    " trace has all links. Long texts are shortened, which `shortened` says; `fields` gives them whole. `left_out` says"
    " what had no room: ask for it by another call.",
    GetArguments,
    Got,
    read_items,
)

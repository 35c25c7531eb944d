"""The tool `find`: items by words and by what is known of them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chassis.core.problems import Invalid
from gateway.mcp.arguments import Arguments
from gateway.mcp.record import PATHS, REQUIREMENT, TEST_CASE, Record
from gateway.mcp.tools.tool import Tool

MOST = 20
_OF_KIND = {"coverage": REQUIREMENT, "linked": TEST_CASE}
_ROW = "id,external_id,title,status,priority,module,coverage"


class FindArguments(Arguments):
    query: Annotated[
        str | None,
        Field(
            max_length=500,
            description="Words by their beginning or in other forms, parts of identifiers, a phrase in quotes.",
        ),
    ] = None
    type: Annotated[
        Literal["requirement", "test_case"] | None,
        Field(description="Without it both kinds are searched, by words alone."),
    ] = None
    module: Annotated[str | None, Field(description="Modules; commas between alternatives, a leading ! excludes.")] = (
        None
    )
    status: Annotated[str | None, Field(description="Such as approved,implemented or, of test cases, !deprecated.")] = (
        None
    )
    priority: Annotated[str | None, Field(description="critical, high, medium or low.")] = None
    tag: Annotated[str | None, Field(description="Has the tag.")] = None
    verdict: Annotated[
        str | None,
        Field(
            description="What results say: passed, failed, flaky, stale, not_run, of requirements uncovered, partial."
        ),
    ] = None
    coverage: Annotated[
        Literal["none", "covered", "suspect"] | None, Field(description="Of requirements: by test cases.")
    ] = None
    linked: Annotated[bool | None, Field(description="Of test cases: whether a requirement is linked.")] = None
    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST
    after: Annotated[str | None, Field(description="`next` of the answer before, with the same filters.")] = None

    @property
    def filters(self) -> dict[str, Any]:
        """What is asked beside words."""
        return self.model_dump(include=set(_FILTERS), exclude_none=True)


_FILTERS = ("module", "status", "priority", "tag", "verdict", "coverage", "linked")


class Row(TypedDict):
    type: Literal["requirement", "test_case"]
    id: str
    key: str | None
    title: str
    status: str
    module: str | None
    priority: NotRequired[str | None]
    state: NotRequired[str | None]


class Found(TypedDict):
    items: list[Row]
    total: int
    did_you_mean: NotRequired[str | None]
    next: str | None
    shortened: NotRequired[bool]


async def _run(record: Record, asked: FindArguments) -> Found:
    if asked.type is None:
        return await _search(record, asked)
    for name, kind in _OF_KIND.items():
        if name in asked.filters and asked.type != kind:
            raise Invalid(f"'{name}' is a filter of {kind.replace('_', ' ')}s alone; leave it out.")
    page = await record.get(
        PATHS[asked.type],
        search=asked.query,
        **asked.filters,
        expand="coverage",
        fields=_ROW,
        limit=asked.limit,
        after=asked.after,
    )
    rows: list[Row] = [
        {
            "type": asked.type,
            "id": row["id"],
            "key": row["external_id"],
            "title": row["title"],
            "status": row["status"],
            "module": row["module"],
            "priority": row["priority"],
            "state": row["coverage"]["state"],
        }
        for row in page["items"]
    ]
    return {"items": rows, "total": page["total"], "next": page["next_after"]}


async def _search(record: Record, asked: FindArguments) -> Found:
    if asked.query is None or asked.filters:
        raise Invalid("Say which type: requirement or test_case. Without it, find takes a query and nothing else.")
    page = await record.get("/search", q=asked.query, limit=asked.limit, after=asked.after)
    rows: list[Row] = [
        {
            "type": row["type"],
            "id": row["id"],
            "key": row["external_id"],
            "title": row["title"],
            "status": row["status"],
            "module": row["module"],
        }
        for row in page["items"]
    ]
    return {
        "items": rows,
        "total": page["total"],
        "did_you_mean": page.get("did_you_mean"),
        "next": page["next_after"],
    }


FIND = Tool(
    "find",
    "Find requirements and test cases",
    "Search with filters: at most 20 rows of id, key, title and state (none, covered or suspect: by links). With more,"
    " `next` is the `after` of the call that goes on. `get` has the texts.",
    FindArguments,
    Found,
    _run,
)

"""GET /requirements/{id}/impact, GET /reports/trace-tree and GET /reports/levels."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import IO, Annotated
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.accept import preferred
from catalog_service.documents import DocumentResponse
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.queries import BasisQuery, basis_of
from catalog_service.reports.formats.document import Document
from catalog_service.reports.front import Front, FrontQuery, add_gate, front_of
from catalog_service.reports.levels import impact, scores, tree
from catalog_service.reports.levels.documents import CsvTree, HtmlTree, XlsxTree
from catalog_service.reports.levels.schemas import Direction, Impact, LevelScores, TraceTree, TreeFormat
from catalog_service.reports.levels.tree import Line
from catalog_service.reports.repository import MATRIX_ORDER
from catalog_service.snapshot import snapshot
from catalog_service.values import ROLLING, RelationType
from catalog_service.verdicts import Basis
from chassis.core import projects
from chassis.core.problems import Invalid
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import PageQuery, Row, documented, page, read_query
from chassis.web.parameters import alternatives, parse_choice
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_DEEPEST = 32
_LINES_AT_ONCE = 500
_DOCUMENTS: dict[TreeFormat, type[Document[Front, Line]]] = {
    TreeFormat.CSV: CsvTree,
    TreeFormat.XLSX: XlsxTree,
    TreeFormat.HTML: HtmlTree,
}
_MEDIA_TYPES = {
    "application/json": TreeFormat.JSON,
    **{document.media_type.partition(";")[0]: name for name, document in _DOCUMENTS.items()},
}
# Documents made at once in this process: each holds a connection and a thread while it is made.
_places = asyncio.Semaphore(2)


class ImpactQuery(BasisQuery):
    """How far a change is followed, and which results count."""

    direction: Annotated[Direction, Field(description="down: to what stands below; up: to what it stands below.")] = (
        Direction.DOWN
    )
    depth: Annotated[
        int,
        Field(ge=1, description="How many relations are followed.", json_schema_extra={"maximum": _DEEPEST}),
    ] = _DEEPEST
    types: Annotated[
        str | None, alternatives(RelationType, "relations of these types alone, by default those that roll up: ")
    ] = None

    def chosen_types(self) -> list[RelationType]:
        """Return the types of relations that are followed; raise Invalid."""
        chosen = parse_choice("types", self.types, RelationType)
        if chosen is None:
            return [*ROLLING]
        return [one for one in RelationType if one in (chosen.included or RelationType) and one not in chosen.excluded]


@router.get(
    "/requirements/{requirement_id}/impact",
    response_model=Impact,
    responses=problem_responses("404 requirement_not_found", "422 too_deep"),
    summary="What a change of a requirement reaches",
    openapi_extra=documented(ImpactQuery),
    tags=["Requirements"],
)
async def read_impact(
    request: Request, requirement_id: UUID, _: Viewer, database: Db, settings: SettingsOf
) -> Response:
    """Return the requirements below or above it with their test cases, and what a change of meaning makes suspect.

    Links and relations become suspect next to the change alone; those further on do when their own ends change.
    """
    query = read_query(request, ImpactQuery)
    if query.depth > _DEEPEST:
        message = f"{query.depth} relations deep is too far: ask for at most {_DEEPEST}, and go on from what is there."
        raise Invalid.field("/query/depth", message, "too_deep")
    types = query.chosen_types()
    basis = basis_of(query, settings, datetime.now(UTC))
    async with snapshot(database) as connection:
        return answer(await impact.find(connection, requirement_id, query.direction, query.depth, types, basis))


class TreeQuery(PageQuery, BasisQuery, FrontQuery):
    """Which part of the tree is asked for, which results count, and the form."""

    parent: Annotated[
        str | None,
        Field(min_length=1, max_length=100, description="The id or external_id of one: its children are asked for."),
    ] = None
    format: Annotated[
        TreeFormat | None, Field(description="Default: what `Accept` prefers, and json where it does not say.")
    ] = None


@router.get(
    "/reports/trace-tree",
    response_model=TraceTree,
    summary="Requirements below requirements, with what they come to",
    openapi_extra=documented(TreeQuery),
    tags=["Reports"],
    responses={
        **problem_responses("404 requirement_not_found", "429 document_under_way", "429 rate_limited"),
        200: {
            "description": "The tree; `format`, or else `Accept`, says in which form.",
            **with_headers("Content-Disposition", "Vary")[200],
            "content": {
                document.media_type.partition(";")[0]: {"schema": {"type": "string"}}
                for document in _DOCUMENTS.values()
            },
        },
    },
)
async def get_trace_tree(request: Request, viewer: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return a page of the requirements without a parent, or of the children of `parent`, by module and external_id.

    Relations that roll up make the tree. The other forms hold all of it, in the order of the tree and set in; one with
    several parents stands below each, and its children below the first.
    """
    query = read_query(request, TreeQuery)
    basis = basis_of(query, settings, datetime.now(UTC))
    form = preferred(request.headers.get("accept"), _MEDIA_TYPES) if query.format is None else query.format
    if form is TreeFormat.JSON:
        response = await _page(request, query, basis, database)
    else:
        if query.parent is not None:
            message = "A document holds the whole tree: leave `parent` out, or ask for json."
            raise Invalid.field("/query/parent", message, "contradiction")
        document = _DOCUMENTS[form]
        disposition = "inline" if form is TreeFormat.HTML else "attachment"
        headers = {
            "Content-Disposition": f'{disposition}; filename="trace-tree-{basis.now:%Y-%m-%d}.{form}"',
            **document.headers,
        }
        making = partial(_make, database, basis, front_of(query, {}, basis, viewer), document)
        response = DocumentResponse(making, document.media_type, headers, reader=viewer.id)
    response.headers["Vary"] = "Accept"
    return response


async def _page(request: Request, query: TreeQuery, basis: Basis, database: Db) -> Response:
    wanted = query.page(request, MATRIX_ORDER)
    async with snapshot(database) as connection:
        parent = None if query.parent is None else await tree.find_parent(connection, query.parent)
        found = await tree.page(connection, None if parent is None else parent["id"], basis, wanted)
    extra: Row = {
        "parent": parent,
        "project": projects.current.get(),
        "made_at": basis.now,
        "branch": basis.branch,
        "environment": basis.environment,
        "commit": basis.commit,
    }
    return page(request, wanted, found, extra=extra)


async def _make(
    database: Db, basis: Basis, front: Front, document_type: type[Document[Front, Line]], file: IO[bytes]
) -> AsyncGenerator[int, None]:
    """Write the whole tree, all of one moment, to an empty file; return how long the file is, as it grows."""
    async with _places:
        async with snapshot(database) as connection:
            front = await add_gate(front, database, connection, basis)
            lines = await tree.read_all(connection, basis)
        with ExitStack() as meanwhile:
            folder = meanwhile.enter_context(tempfile.TemporaryDirectory(prefix="trace-tree-"))
            document = await asyncio.to_thread(document_type, file, folder, front)
            meanwhile.enter_context(closing(document))
            while some := [*islice(lines, _LINES_AT_ONCE)]:
                await asyncio.to_thread(document.write, some)
                yield file.tell()
            await asyncio.to_thread(document.finish)
    yield file.tell()


@router.get(
    "/reports/levels",
    response_model=LevelScores,
    summary="How complete the trace between levels is",
    tags=["Reports"],
)
async def get_level_scores(_: Viewer, database: Db) -> Response:
    """Return, a level and what it needs, how many of its requirements have that: a parent, a child, a test.

    Relations that roll up count; a derived requirement needs no parent. A project without levels has no rows.
    """
    async with snapshot(database) as connection:
        found = await scores.read_scores(database, connection)
    return answer({"project": projects.current.get(), "made_at": datetime.now(UTC), **found})

"""GET /reports/verification."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing, closing
from datetime import UTC, datetime
from functools import partial
from typing import IO, Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.accept import preferred
from catalog_service.documents import DocumentResponse
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.queries import AllowFlaky, BasisQuery, basis_of
from catalog_service.reports import repository
from catalog_service.reports.formats.document import Document
from catalog_service.reports.front import FiledQuery, Front, ShownRows, add_gate, front_of
from catalog_service.reports.scope import NOT_OF_REPORTS, scope_of
from catalog_service.reports.verification import service
from catalog_service.reports.verification.documents import (
    About,
    CsvDocument,
    HtmlDocument,
    MarkdownDocument,
    XlsxDocument,
)
from catalog_service.reports.verification.schemas import VerificationFormat, VerificationReport
from catalog_service.reports.verification.service import Verification
from catalog_service.requirements.endpoints import RequirementFilters
from catalog_service.snapshot import snapshot
from catalog_service.verdict_reads import tell_older
from catalog_service.verdicts import Verdict
from chassis.core.problems import Invalid
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.listing import Row, documented, page, read_query
from chassis.web.parameters import Choice, alternatives, parse_choice
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Reports"])


class VerificationQuery(RequirementFilters, BasisQuery, FiledQuery):
    """What the report is of, and in which form."""

    verdict: Annotated[str | None, alternatives(Verdict)] = None
    allow_flaky: AllowFlaky = False
    rolled: Annotated[
        bool, Field(description="Add what each comes to with all below it: `rolled` and `rolled_coverage`.")
    ] = False
    format: Annotated[
        VerificationFormat | None, Field(description="Default: what `Accept` prefers, and json where it does not say.")
    ] = None


_DOCUMENTS: dict[VerificationFormat, type[Document[About, Row]]] = {
    VerificationFormat.CSV: CsvDocument,
    VerificationFormat.XLSX: XlsxDocument,
    VerificationFormat.HTML: HtmlDocument,
    VerificationFormat.MARKDOWN: MarkdownDocument,
}
_SUFFIXES = {VerificationFormat.MARKDOWN: "md"}
_MEDIA_TYPES = {
    "application/json": VerificationFormat.JSON,
    **{document.media_type.partition(";")[0]: name for name, document in _DOCUMENTS.items()},
}
# Documents made at once in this process: each holds a connection and a thread while it is made.
_places = asyncio.Semaphore(2)


@router.get(
    "/verification",
    response_model=VerificationReport,
    summary="What results say of requirements",
    openapi_extra=documented(VerificationQuery, NOT_OF_REPORTS),
    responses={
        **problem_responses("429 document_under_way", "429 rate_limited"),
        200: {
            "description": "The report; `format`, or else `Accept`, says in which form.",
            **with_headers("Content-Disposition", "Vary")[200],
            "content": {
                document.media_type.partition(";")[0]: {"schema": {"type": "string"}}
                for document in _DOCUMENTS.values()
            },
        },
    },
)
async def get_verification(request: Request, viewer: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return requirements with their verdicts, by module and external_id, and how many have which.

    `summary` is of all that the filters find, whatever page or verdict.
    """
    query = read_query(request, VerificationQuery)
    now = datetime.now(UTC)
    chosen = parse_choice("verdict", query.verdict, Verdict)
    basis = basis_of(query, settings, now)
    if query.rows is not ShownRows.ALL:
        if chosen is not None:
            message = "Say which rows, or which verdicts: `gaps` are those that are `uncovered`."
            raise Invalid.field("/query/rows", message, "contradiction")
        uncovered = (Verdict.UNCOVERED,)
        chosen = Choice(uncovered, ()) if query.rows is ShownRows.GAPS else Choice((), uncovered)
    of = Verification(await scope_of(database, query), basis, query.allow_flaky, chosen, query.rolled)
    filters = {**of.scope.filters, **({} if query.verdict is None else {"verdict": query.verdict})}
    front = front_of(query, filters, basis, viewer, query.rows)
    form = preferred(request.headers.get("accept"), _MEDIA_TYPES) if query.format is None else query.format
    if form is VerificationFormat.JSON:
        response = await _page(request, query, of, front, database)
    else:
        document = _DOCUMENTS[form]
        disposition = "inline" if form is VerificationFormat.HTML else "attachment"
        name = f"verification-{now:%Y-%m-%d}.{_SUFFIXES.get(form, form)}"
        headers = {"Content-Disposition": f'{disposition}; filename="{name}"', **document.headers}
        making = partial(_make, database, of, front, document)
        response = DocumentResponse(making, document.media_type, headers, reader=viewer.id)
    response.headers["Vary"] = "Accept"
    return response


async def _page(request: Request, query: VerificationQuery, of: Verification, front: Front, database: Db) -> Response:
    wanted = query.page(request, repository.MATRIX_ORDER)
    async with snapshot(database) as connection:
        summary = await service.summary(database, connection, of)
        found = await service.page(connection, of, wanted, summary["total_requirements"])
        notes = await tell_older(connection, of.basis)
    extra: Row = {
        "summary": summary,
        "branch": of.basis.branch,
        "environment": of.basis.environment,
        "commit": of.basis.commit,
        "project": front.project,
        "made_at": front.made_at,
        "filters": front.filters,
        "notes": notes,
    }
    return page(request, wanted, found, extra=extra)


async def _make(
    database: Db, of: Verification, front: Front, document_type: type[Document[About, Row]], file: IO[bytes]
) -> AsyncGenerator[int, None]:
    """Write the whole report, all of one moment, to an empty file; return how long the file is, as it grows."""
    async with _places:
        with ExitStack() as meanwhile:
            folder = meanwhile.enter_context(tempfile.TemporaryDirectory(prefix="verification-"))
            async with snapshot(database) as connection:
                summary = await service.summary(database, connection, of)
                front = await add_gate(front, database, connection, of.basis)
                about = About(summary, front, await tell_older(connection, of.basis), of.rolled)
                document = await asyncio.to_thread(document_type, file, folder, about)
                meanwhile.enter_context(closing(document))
                found = service.rows(
                    connection, of, worst_first=document_type.worst_first, has_people=front.made_by is not None
                )
                async with aclosing(found) as parts:
                    async for rows in parts:
                        await asyncio.to_thread(document.write, rows)
                        yield file.tell()
            await asyncio.to_thread(document.finish)
    yield file.tell()

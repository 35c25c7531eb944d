"""GET /exports: the record, or a part of it, as a file."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from catalog_service.accept import preferred
from catalog_service.documents import DocumentResponse
from catalog_service.exchange.formats import Kinds
from catalog_service.exchange.jobs.endpoints import settings_of
from catalog_service.exchange.writing import service
from catalog_service.exchange.writing.documents import (
    CsvArchiveExport,
    CsvExport,
    ExportDocument,
    JsonExport,
    NdjsonExport,
    ReqifArchiveExport,
    ReqifExport,
    XlsxExport,
)
from catalog_service.exchange.writing.formats import read_formats
from catalog_service.exchange.writing.mapped import service as mapped
from catalog_service.exchange.writing.mapped.documents import MappedCsv, MappedDocument, MappedWorkbook
from catalog_service.exchange.writing.schemas import ExportFormat, ExportQuery, Formats
from catalog_service.exchange.writing.scope import NOT_OF_EXPORTS, filters_of
from catalog_service.items.filters import ItemFilters
from catalog_service.settings import Settings
from chassis.core.identity import Identity
from chassis.core.problems import Invalid
from chassis.db.database import Database, Db
from chassis.web.callers import Viewer
from chassis.web.listing import documented, read_query
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/exports", route_class=StrictRoute, tags=["Export"])

_DOCUMENTS: dict[ExportFormat, type[ExportDocument]] = {
    ExportFormat.JSON: JsonExport,
    ExportFormat.NDJSON: NdjsonExport,
    ExportFormat.CSV: CsvExport,
    ExportFormat.XLSX: XlsxExport,
    ExportFormat.REQIF: ReqifExport,
    ExportFormat.REQIFZ: ReqifArchiveExport,
}
_MAPPED: dict[ExportFormat, type[MappedDocument]] = {ExportFormat.CSV: MappedCsv, ExportFormat.XLSX: MappedWorkbook}
_MEDIA_TYPES = {document.media_type.partition(";")[0]: name for name, document in _DOCUMENTS.items()}
_ARCHIVE = CsvArchiveExport.media_type


@router.get(
    "",
    response_class=Response,
    summary="Export the record, or a part of it",
    openapi_extra=documented(ExportQuery, NOT_OF_EXPORTS),
    responses={
        **problem_responses("429 document_under_way", "429 rate_limited"),
        200: {
            "description": "The file; `format`, or else `Accept`, says in which form.",
            **with_headers("Content-Disposition", "Vary", "Warning")[200],
            "content": {
                media_type: {"schema": {"type": "object" if media_type == JsonExport.media_type else "string"}}
                for media_type in (*_MEDIA_TYPES, _ARCHIVE)
            },
        },
    },
)
async def export(
    request: Request, viewer: Viewer, database: Db, settings: Annotated[Settings, Depends(settings_of)]
) -> Response:
    """Return requirements, test cases and the links between them, all of one moment.

    The filters are those of the lists; what only one kind has narrows that kind alone. A native export is complete: it
    can be restored into another installation, and says at its end whether it arrived whole. A plain one leaves out ids,
    versions and times. Of all kinds, `csv` is a zip with a table each. With `mapping` it is a table for another tool:
    with its columns and words, and steps as it lays them out.
    """
    query = read_query(request, ExportQuery)
    filters = filters_of(query)
    accepted = preferred(request.headers.get("accept"), _MEDIA_TYPES)
    document = _DOCUMENTS[query.format or accepted]
    if document is CsvExport and query.kind is Kinds.ALL:
        document = CsvArchiveExport
    if query.mapping is not None:
        return await _export_mapped(database, viewer, query, filters, settings)
    name = f"traceline-{query.kind.replace('_', '-')}-{datetime.now(UTC):%Y-%m-%d}.{document.suffix}"
    return DocumentResponse(
        partial(service.make, database, query, filters, document, settings.basis(datetime.now(UTC))),
        document.media_type,
        {"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept"},
        reader=viewer.id,
    )


async def _export_mapped(
    database: Database, viewer: Identity, query: ExportQuery, filters: Mapping[str, ItemFilters], settings: Settings
) -> Response:
    """Return a table for another tool; raise Invalid where it cannot be written."""
    document = _MAPPED.get(query.format or ExportFormat.CSV)
    if document is None or query.mapping is None:
        raise Invalid.field("/query/format", "A mapping is of tables: say format=csv or format=xlsx.", "contradiction")
    async with database.connection() as connection:
        table = await mapped.table_of(connection, query.mapping, query.kind)
    basis = settings.basis(datetime.now(UTC))
    of_kind = filters[table.kind.name]
    lost = await mapped.say_what_is_lost(database, table, of_kind, basis, document)
    name = f"{table.kind.table.replace('_', '-')}-{datetime.now(UTC):%Y-%m-%d}.{document.suffix}"
    return DocumentResponse(
        partial(mapped.make, database, table, of_kind, document, basis),
        document.media_type,
        {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Vary": "Accept",
            **({} if lost is None else {"Warning": f'299 - "{lost}"'}),
        },
        reader=viewer.id,
    )


@router.get("/formats", response_model=Formats, summary="List what can be imported and exported")
async def list_formats(_: Viewer, settings: Annotated[Settings, Depends(settings_of)]) -> Response:
    """Return formats, presets for the tables of known tools, limits, and templates to begin with."""
    written = [
        {"name": name, "media_type": document.media_type, "suffix": document.suffix}
        for name, document in _DOCUMENTS.items()
    ]
    return answer({**read_formats(settings.import_max_rows), "written": written})

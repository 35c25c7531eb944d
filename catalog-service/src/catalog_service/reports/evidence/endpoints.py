"""GET /requirements/{id}/evidence."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from catalog_service.accept import preferred
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.links.schemas import ExpandedLink
from catalog_service.reports.evidence import page, service
from catalog_service.reports.people import People
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.problem_documents import problem_responses, with_headers
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/requirements", route_class=StrictRoute, tags=["Reports"])


class EvidenceFormat(StrEnum):
    """Forms of the evidence."""

    JSON = "json"
    HTML = "html"


class EvidenceDocument(BaseModel):
    """All that proves a requirement: what each version says, its links, what happened to them, and its results."""

    project: str
    made_at: datetime
    made_by: Annotated[str | None, Field(description="null with people=hide, as every name in it.")]
    branch: Annotated[str, Field(description="Whose results the verdict comes from.")]
    notes: Annotated[list[str], Field(description="What is left out where there is more than it holds.")]
    requirement: Annotated[dict[str, Any], Field(description="The requirement, and its `verdict`.")]
    versions: Annotated[
        list[dict[str, Any]], Field(description="What each version says, who made it and when; the newest first.")
    ]
    links: list[ExpandedLink]
    events: Annotated[
        list[dict[str, Any]],
        Field(description="What happened to its links, the oldest first, also to those that are gone."),
    ]
    results: Annotated[list[dict[str, Any]], Field(description="What was executed, the newest first; see Execution.")]


_MEDIA_TYPES = {"application/json": EvidenceFormat.JSON, "text/html": EvidenceFormat.HTML}


@router.get(
    "/{requirement_id}/evidence",
    response_model=EvidenceDocument,
    summary="All that proves a requirement, to be filed",
    responses={
        **problem_responses("404 requirement_not_found"),
        200: {
            "description": "The evidence; `format`, or else `Accept`, says in which form.",
            **with_headers("Vary")[200],
            "content": {"text/html": {"schema": {"type": "string"}}},
        },
    },
)
async def get_evidence(
    request: Request,
    requirement_id: UUID,
    viewer: Viewer,
    database: Db,
    settings: SettingsOf,
    format: Annotated[  # noqa: A002 - its name in the API
        EvidenceFormat | None, Field(description="Default: what `Accept` prefers, and json where it does not say.")
    ] = None,
    people: Annotated[People, Field(description="`hide` leaves out the names of people.")] = People.SHOW,
) -> Response:
    """The text of each version, its links with who made, accepted and confirmed them, when each was suspect and until
    when, and results with their run, commit and person. A requirement that was deleted keeps its versions.
    """
    form = preferred(request.headers.get("accept"), _MEDIA_TYPES) if format is None else format
    made_by = viewer.email if people is People.SHOW else None
    evidence = await service.gather(database, requirement_id, settings.basis(datetime.now(UTC)), made_by)
    if form is EvidenceFormat.HTML:
        response = Response(page.write(evidence), media_type="text/html; charset=utf-8", headers=page.HEADERS)
    else:
        response = answer(evidence)
    response.headers["Vary"] = "Accept"
    return response

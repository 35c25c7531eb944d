"""GET /reports/verification."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import Field

from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.queries import AllowFlaky, Branch, Commit, Environment, Fallback, basis_of
from catalog_service.executions.verdicts import Verdict
from catalog_service.reports import repository
from catalog_service.reports.scope import NOT_OF_REPORTS, PROJECT, scope_of
from catalog_service.reports.verification import service
from catalog_service.reports.verification.schemas import VerificationFormat, VerificationReport
from catalog_service.reports.verification.service import Verification
from catalog_service.requirements.endpoints import RequirementFilters
from catalog_service.snapshot import snapshot
from chassis.core.identity import Viewer
from chassis.db.database import Db
from chassis.web.listing import Row, documented, page, read_query
from chassis.web.parameters import alternatives, parse_choice
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Reports"])


class VerificationQuery(RequirementFilters):
    """What the report is of, and in which form."""

    verdict: Annotated[str | None, alternatives(Verdict)] = None
    branch: Branch = None
    fallback: Fallback = True
    environment: Environment = None
    commit: Commit = None
    allow_flaky: AllowFlaky = False
    format: Annotated[
        VerificationFormat | None, Field(description="Default: what `Accept` prefers, and json where it does not say.")
    ] = None


@router.get(
    "/verification",
    response_model=VerificationReport,
    summary="What results say of requirements",
    openapi_extra=documented(VerificationQuery, NOT_OF_REPORTS),
)
async def get_verification(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return requirements with their verdicts, by module and external_id, and how many have which.

    `summary` is of all that the filters find, whatever page or verdict.
    """
    query = read_query(request, VerificationQuery)
    now = datetime.now(UTC)
    chosen = parse_choice("verdict", query.verdict, Verdict)
    of = Verification(scope_of(query), basis_of(query, settings, now), query.allow_flaky, chosen)
    wanted = query.page(request, repository.MATRIX_ORDER)
    async with snapshot(database) as connection:
        summary = await service.summary(connection, of)
        found = await service.page(connection, of, wanted, summary["total_requirements"])
    extra: Row = {
        "summary": summary,
        "branch": of.basis.branch,
        "environment": of.basis.environment,
        "commit": of.basis.commit,
        "project": PROJECT,
        "made_at": now,
        "filters": {**of.scope.filters, **({} if query.verdict is None else {"verdict": query.verdict})},
        "notes": [],
    }
    return page(request, wanted, found, extra=extra)

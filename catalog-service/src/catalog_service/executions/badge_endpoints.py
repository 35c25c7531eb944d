"""HTTP: badges."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from catalog_service.executions import badges, policy_store
from catalog_service.executions.endpoints import SettingsOf
from catalog_service.executions.gate import Gate
from catalog_service.executions.policies import AcceptedFailures, Where
from catalog_service.executions.queries import Branch
from catalog_service.figures import Figures, figures
from catalog_service.settings import Settings
from catalog_service.snapshot import snapshot
from catalog_service.verdicts import Basis, Verdict, is_verified
from chassis.db.database import Connection, Database, Db
from chassis.web.callers import Viewer
from chassis.web.listing import documented, read_query
from chassis.web.problem_documents import problem_responses
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/badges", route_class=StrictRoute, tags=["Results"])

_FRESH = {"Cache-Control": "max-age=60"}
"""Sites that show pictures of others ask again after this time."""
_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The badge", "content": {"image/svg+xml": {"schema": {"type": "string"}}}},
    **problem_responses("404 badge_not_found"),
}


class BadgeQuery(BaseModel):
    """What a badge is of."""

    branch: Branch = None
    token: Annotated[
        str | None,
        Field(
            description="An API token whose only scope is `badge`, since nothing else is sent with a picture. The"
            " gateway takes it off; without any token the answer is 404."
        ),
    ] = None


def _basis(request: Request, settings: Settings) -> Basis:
    query = read_query(request, BadgeQuery)
    default, stale = settings.results_default_branch, timedelta(days=settings.results_stale_days)
    return Basis(query.branch or default, default, datetime.now(UTC), stale)


async def _figures(database: Database, connection: Connection, basis: Basis) -> Figures:
    return await figures(database, connection, None, {}, basis)


def _picture(badge: str) -> Response:
    return Response(badge, headers=_FRESH, media_type="image/svg+xml")


@router.get(
    "/verified.svg",
    response_class=Response,
    responses=_PICTURE,
    summary="The badge of what is verified",
    openapi_extra=documented(BadgeQuery),
)
async def draw_verified_badge(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return the share of requirements that are verified, rounded down, as a picture."""
    async with snapshot(database) as connection:
        found = await _figures(database, connection, _basis(request, settings))
    verified = found.having(one for one in Verdict if is_verified(one, allow_flaky=False))
    return _picture(badges.draw_share("verified", sum(group.count for group in verified), found.total))


@router.get(
    "/coverage.svg",
    response_class=Response,
    responses=_PICTURE,
    summary="The badge of coverage",
    openapi_extra=documented(BadgeQuery),
)
async def draw_coverage_badge(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return the share of requirements that have a test case, rounded down, as a picture."""
    async with snapshot(database) as connection:
        found = await _figures(database, connection, _basis(request, settings))
    linked = sum(group.count for group in found.groups if group.linked)
    return _picture(badges.draw_share("coverage", linked, found.total))


@router.get(
    "/gate.svg",
    response_class=Response,
    responses=_PICTURE,
    summary="The badge of the gate",
    openapi_extra=documented(BadgeQuery),
)
async def draw_gate_badge(request: Request, _: Viewer, database: Db, settings: SettingsOf) -> Response:
    """Return whether the gate without rules passes on the branch, by the rules of the project, as a picture."""
    basis = _basis(request, settings)
    async with snapshot(database) as connection:
        rules = await policy_store.unasked(connection, Where(), AcceptedFailures.DENY)
        judged = await Gate(database, connection, basis, allow_flaky=False).judge(rules)
    return _picture(badges.draw_gate(passed=judged["passed"]))

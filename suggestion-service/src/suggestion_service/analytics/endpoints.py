"""HTTP: how well suggestions do."""

from fastapi import APIRouter, Response

from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from suggestion_service.analytics import service
from suggestion_service.analytics.schemas import Performance

router = APIRouter(prefix="/api/v1/analytics", route_class=StrictRoute, tags=["Analytics"])


@router.get("/suggestion-performance", response_model=Performance, summary="How well suggestions do")
async def read_suggestion_performance(_: Viewer, database: Db) -> Response:
    """Return totals and acceptance rates: over all, by method, by band, and for each threshold."""
    return answer(await service.performance(database))

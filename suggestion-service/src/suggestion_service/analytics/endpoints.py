"""HTTP: how well suggestions do."""

from fastapi import APIRouter, Response

from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from suggestion_service.analytics import service
from suggestion_service.analytics.schemas import AgentPage, Performance

router = APIRouter(prefix="/api/v1/analytics", route_class=StrictRoute, tags=["Analytics"])


@router.get("/suggestion-performance", response_model=Performance, summary="How well suggestions do")
async def read_suggestion_performance(_: Viewer, database: Db) -> Response:
    """Return totals and acceptance rates: over all, by method, by band, and for each threshold."""
    return answer(await service.performance(database))


@router.get("/agents", response_model=AgentPage, summary="How well agents propose")
async def read_agents(_: Viewer, database: Db) -> Response:
    """Return a row an agent: how much it has proposed, what became of that, and how long people took."""
    return answer(await service.agents(database))

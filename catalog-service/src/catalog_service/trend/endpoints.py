"""GET /reports/coverage-trend."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response

from catalog_service.trend import service
from catalog_service.trend.schemas import CoverageTrend
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.parameters import FREE_ALTERNATIVES
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1/reports", route_class=StrictRoute, tags=["Reports"])

Days = Annotated[int, Query(ge=1, le=3650, description="How many days, the last of them today (UTC).", examples=[30])]
Modules = Annotated[
    str | None,
    Query(description=f"Modules, each with its own figures: {FREE_ALTERNATIVES}.", examples=["accounts"]),
]


@router.get("/coverage-trend", response_model=CoverageTrend, summary="Coverage day by day")
async def get_coverage_trend(viewer: Viewer, database: Db, days: Days = 30, module: Modules = None) -> Response:
    """Return the coverage of each day: of the whole record, or of each module that is asked for.

    Days are kept from the installation on, by UTC, as they were at their end; today is as it is now. A day on which
    Traceline did not run is left out. A module that does not exist any more has the days on which it did.
    """
    return answer({"items": await service.trend(database, days, module, datetime.now(UTC))})

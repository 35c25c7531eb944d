"""HTTP: how well suggestions do."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response

from chassis.core.identity import Viewer
from chassis.db.database import Db
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from suggestion_service.analytics import repository
from suggestion_service.analytics.schemas import Performance
from suggestion_service.review.band import Band
from suggestion_service.review.schemas import SuggestionMethod, SuggestionStatus
from suggestion_service.review_model import repository as learning

router = APIRouter(prefix="/api/v1/analytics", route_class=StrictRoute, tags=["Analytics"])


@router.get("/suggestion-performance", response_model=Performance, summary="How well suggestions do")
async def read_suggestion_performance(_: Viewer, database: Db) -> Response:
    """Return totals and acceptance rates: over all, by method, by band, and for each threshold."""
    async with database.connection() as connection, connection.transaction():
        counts = await repository.counts(connection)
        hours = await repository.median_hours_to_review(connection)
        thresholds = await repository.reviews_from_threshold(connection)
        learnt = await learning.state(connection)
    return answer(
        {
            **_figures(counts),
            "median_hours_to_review": hours,
            "by_method": [
                {"method": method, **_figures([row for row in counts if row["method"] == method])}
                for method in SuggestionMethod
                if any(row["method"] == method for row in counts)
            ],
            "by_band": [{"band": band, **_figures([row for row in counts if row["band"] == band])} for band in Band],
            "thresholds": [{**row, "acceptance_rate": _rate(row["accepted"], row["rejected"])} for row in thresholds],
            "learning": {
                "active": learnt.active,
                "since": learnt.since,
                "measured_at": learnt.measured_at,
                "reason": learnt.evaluation.reason,
                "based_on": learnt.evaluation.basis,
                "accepted": learnt.evaluation.accepted,
                "rejected": learnt.evaluation.rejected,
                "by_score": learnt.evaluation.by_score,
                "with_reviews": learnt.evaluation.with_reviews,
                "standard_error": learnt.evaluation.error,
            },
        }
    )


def _figures(counts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    by_status = Counter[str]()
    for row in counts:
        by_status[row["status"]] += row["number"]
    return {
        "totals": {"all": by_status.total(), **{status.value: by_status[status] for status in SuggestionStatus}},
        "acceptance_rate": _rate(by_status["accepted"], by_status["rejected"]),
    }


def _rate(accepted: int, rejected: int) -> float | None:
    return accepted / (accepted + rejected) if accepted + rejected else None

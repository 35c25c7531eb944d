"""How well suggestions do: totals and acceptance rates, and whether reviews re-rank what is pending."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from chassis.db.database import Database
from suggestion_service.analytics import repository
from suggestion_service.analytics.repository import Count
from suggestion_service.proposals import limits
from suggestion_service.review.band import Band
from suggestion_service.review.schemas import SuggestionMethod, SuggestionStatus
from suggestion_service.review_model.evaluation import Evaluation
from suggestion_service.store import learning


async def performance(database: Database) -> dict[str, Any]:
    """Return the figures as they are answered."""
    async with database.connection() as connection, connection.transaction():
        counts = await repository.counts(connection)
        hours = await repository.median_hours_to_review(connection)
        thresholds = await repository.reviews_from_threshold(connection)
        state = await learning.state(connection)
    return {
        **_figures(counts),
        "median_hours_to_review": hours,
        "by_method": [
            {"method": method, **_figures([row for row in counts if row.method == method])}
            for method in SuggestionMethod
            if any(row.method == method for row in counts)
        ],
        "by_band": [{"band": band, **_figures([row for row in counts if row.band == band])} for band in Band],
        "thresholds": [{**row, "acceptance_rate": _rate(row["accepted"], row["rejected"])} for row in thresholds],
        "learning": _learning(state),
    }


async def agents(database: Database) -> dict[str, Any]:
    """Return the figures of agents as they are answered."""
    async with database.connection() as connection:
        rows = await repository.agents(connection)
        most = {row["agent_id"]: await limits.most_pending(connection, row["agent_id"]) for row in rows}
    return {
        "items": [
            {
                **row,
                "acceptance_rate": _rate(row["accepted"], row["rejected"]),
                "most_pending": most[row["agent_id"]],
            }
            for row in rows
        ]
    }


def _learning(state: learning.State) -> dict[str, Any]:
    measured = Evaluation.stored(state)
    return {
        "active": state.active,
        "since": state.since,
        "measured_at": state.measured_at,
        "reason": measured.reason,
        "based_on": measured.basis,
        "accepted": measured.accepted,
        "rejected": measured.rejected,
        "by_score": measured.by_score,
        "with_reviews": measured.with_reviews,
        "standard_error": measured.error,
    }


def _figures(counts: Sequence[Count]) -> dict[str, Any]:
    by_status = Counter[str]()
    for row in counts:
        by_status[row.status] += row.number
    return {
        "totals": {"all": by_status.total(), **{status.value: by_status[status] for status in SuggestionStatus}},
        "acceptance_rate": _rate(by_status["accepted"], by_status["rejected"]),
    }


def _rate(accepted: int, rejected: int) -> float | None:
    return accepted / (accepted + rejected) if accepted + rejected else None

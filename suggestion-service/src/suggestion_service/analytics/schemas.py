"""Figures as the API shows them."""

from datetime import datetime

from pydantic import BaseModel, Field

from suggestion_service.review.band import Band
from suggestion_service.review.schemas import SuggestionMethod


class Totals(BaseModel):
    """How many suggestions there are, by status."""

    all: int
    pending: int
    accepted: int
    rejected: int
    expired: int


class Figures(BaseModel):
    """`acceptance_rate` is accepted over accepted and rejected, null when there are none."""

    totals: Totals
    acceptance_rate: float | None = Field(ge=0, le=1)


class MethodFigures(Figures):
    """Of one method."""

    method: SuggestionMethod


class BandFigures(Figures):
    """Of one band of scores."""

    band: Band


class ThresholdFigures(BaseModel):
    """What reviewers said of the suggestions that score at or above a threshold."""

    threshold: float
    accepted: int
    rejected: int
    acceptance_rate: float | None = Field(ge=0, le=1)


class Learning(BaseModel):
    """Whether reviews re-rank what is pending, since when, and why: how often an accepted pair comes before a rejected
    one by the score alone, and when each is judged by the other reviews, too.
    """

    active: bool
    since: datetime | None
    measured_at: datetime | None
    reason: str
    based_on: str = Field(description="Which reviews are learnt from, in words.")
    accepted: int = Field(description="Accepted pairs that were learnt from.")
    rejected: int = Field(description="Rejected pairs that were learnt from.")
    by_score: float | None = Field(ge=0, le=1)
    with_reviews: float | None = Field(ge=0, le=1)
    standard_error: float | None = Field(ge=0, description="Of the difference, which has to be larger.")


class Performance(Figures):
    """How well suggestions do."""

    median_hours_to_review: float | None
    by_method: list[MethodFigures]
    by_band: list[BandFigures]
    thresholds: list[ThresholdFigures]
    learning: Learning


class AgentFigures(BaseModel):
    """What became of the proposals of one agent; `acceptance_rate` is accepted over accepted and rejected."""

    agent_id: str
    name: str
    owner: str
    proposed: int
    pending: int
    accepted: int
    rejected: int
    outdated: int
    withdrawn: int
    expired: int
    acceptance_rate: float | None = Field(ge=0, le=1)
    median_hours_to_review: float | None
    most_pending: int = Field(description="How many of it may be pending at once, by what people said of the last.")
    last_proposed_at: datetime


class AgentPage(BaseModel):
    """The agents that have proposed something, the busiest first."""

    items: list[AgentFigures]

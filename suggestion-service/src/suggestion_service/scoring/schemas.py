"""Runs as the API shows them."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class AlgorithmName(StrEnum):
    TFIDF = "tfidf"
    KEYWORD = "keyword"
    HYBRID = "hybrid"


class RunStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Progress(BaseModel):
    """How far the search for links is, of the items that were created or changed or, while a run goes on, of all."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"is_complete": False, "done": 120, "total": 300}]})

    is_complete: bool = Field(
        description="Whether everything that was changed has been looked at. It is not while items wait, while a run"
        " waits or goes on, and until what was changed in requirements and test cases has arrived here."
    )
    done: int = Field(description="Items that have been compared with the other side.")
    total: int = Field(description="Items that were to be compared; 0 where nothing is, or where it is not known yet.")


class Run(BaseModel):
    """A generation over everything. `error` is told when it failed.

    Each pair at or above the threshold is counted once: as created, as updated, or as skipped.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "5f0c5a1e-9a45-4a7a-9a0e-0d6c3a4e6f10",
                    "status": "completed",
                    "algorithm": "tfidf",
                    "threshold": 0.3,
                    "progress": 1.0,
                    "pairs_analyzed": 5400,
                    "rescore": True,
                    "pending_only": False,
                    "suggestions_created": 71,
                    "suggestions_updated": 38,
                    "suggestions_withdrawn": 9,
                    "suggestions_skipped": 12,
                    "created_at": "2026-03-02T09:30:00.000000Z",
                    "created_by": "reviewer@example.com",
                    "started_at": "2026-03-02T09:30:00.061000Z",
                    "finished_at": "2026-03-02T09:30:00.420000Z",
                    "error": None,
                }
            ]
        }
    )

    id: UUID
    status: RunStatus
    algorithm: AlgorithmName
    threshold: float
    progress: float = Field(ge=0, le=1)
    rescore: bool = Field(description="Whether pending suggestions are scored anew, too.")
    pending_only: bool = Field(
        description="Whether it scores pending suggestions anew and suggests nothing: after an update that has changed"
        " what scores mean, once, by `system`."
    )
    pairs_analyzed: int
    suggestions_created: int = Field(
        description="Pairs that came into the queue, those included that an earlier run had withdrawn."
    )
    suggestions_updated: int = Field(
        description="Pending suggestions whose score, method or reason is another now, in place."
    )
    suggestions_withdrawn: int = Field(
        description="Pending suggestions below the threshold: they are `expired`, and `feedback` says why. They are not"
        " among the pairs at or above the threshold."
    )
    suggestions_skipped: int = Field(
        description="Pairs at or above the threshold for which there was nothing to do: pending with just this score,"
        " being accepted, linked, or reviewed or expired while their texts were as they are now. With `rescore=false`"
        " everything that is pending is skipped."
    )
    created_at: datetime
    created_by: str
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None
    advised_threshold: float | None = Field(
        default=None,
        description="Where more than ten pending suggestions a requirement are left: the threshold that would leave"
        " three.",
    )

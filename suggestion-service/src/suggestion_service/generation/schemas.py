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


class Run(BaseModel):
    """A generation over everything. `error` is told when it failed."""

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
                    "suggestions_created": 71,
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
    pairs_analyzed: int
    suggestions_created: int
    suggestions_skipped: int
    created_at: datetime
    created_by: str
    started_at: datetime | None
    finished_at: datetime | None
    error: str | None

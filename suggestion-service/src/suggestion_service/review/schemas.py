"""Suggestions and reviews as the API shows and takes them."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from suggestion_service.review.band import Band


class SuggestionStatus(StrEnum):
    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"


class SuggestionMethod(StrEnum):
    SEMANTIC_SIMILARITY = "semantic_similarity"
    KEYWORD_MATCH = "keyword_match"
    HEURISTIC = "heuristic"
    HYBRID = "hybrid"


class LinkType(StrEnum):
    COVERS = "covers"
    VERIFIES = "verifies"
    VALIDATES = "validates"
    RELATED = "related"


class Action(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"


class ShortItem(BaseModel):
    """What is needed to recognise a requirement or a test case."""

    id: UUID
    external_id: str | None
    title: str
    module: str | None


class Suggestion(BaseModel):
    """A pair that may belong together, why, and what became of it.

    The sum of weight x score over `suggestion_metadata.components` is `similarity_score`. Where reviews of like pairs
    were seen to help, `suggestion_metadata.reviews` says which, and by how much, in log-odds, they move the suggestion
    when sorted by relevance; the score is none of theirs.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "0d3c2f62-7a0e-4a06-b4a7-0b5c1f5f6a11",
                    "requirement_id": "8c9f1c1e-4f1e-4d0c-9a39-6d1c5b3e2f22",
                    "test_case_id": "3b1d7e7a-2a51-4f5e-8f0b-9c2d4e6f7a33",
                    "similarity_score": 0.764102,
                    "band": "high",
                    "suggestion_method": "semantic_similarity",
                    "suggestion_reason": "Both texts speak of “door”, “lock” and “badge”; text similarity 0.76.",
                    "suggestion_metadata": {
                        "algorithm": "tfidf",
                        "components": {"semantic": {"score": 0.764102, "weight": 1.0}},
                        "matched_terms": [{"term": "badge", "weight": 0.31}],
                        "other_terms": 4,
                        "other_weight": 0.12,
                        "reviews": {
                            "adjustment": 0.42,
                            "because": [
                                {
                                    "requirement": "REQ-12",
                                    "requirement_title": "A badge opens the door",
                                    "test_case": "A worn badge opens the door",
                                    "test_case_title": "A worn badge opens the door",
                                    "status": "accepted",
                                    "similarity": 0.61,
                                }
                            ],
                        },
                    },
                    "status": "pending",
                    "created_at": "2026-03-02T09:30:00.000000Z",
                    "reviewed_at": None,
                    "reviewed_by": None,
                    "feedback": None,
                    "link_id": None,
                    "review_id": None,
                    "relevance": 1.517652,
                    "requirement": {
                        "id": "8c9f1c1e-4f1e-4d0c-9a39-6d1c5b3e2f22",
                        "external_id": "REQ-12",
                        "title": "A badge opens the door",
                        "module": "access",
                    },
                    "test_case": {
                        "id": "3b1d7e7a-2a51-4f5e-8f0b-9c2d4e6f7a33",
                        "external_id": None,
                        "title": "Open the door with a valid badge",
                        "module": "access",
                    },
                }
            ]
        }
    )

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    similarity_score: float = Field(ge=0, le=1)
    band: Band | None = Field(
        description="Of a hybrid score, which is a probability: `very_high` from 0.90, `high` from 0.75, `moderate`"
        " from 0.60, `low` below. Null for the other methods: what their scores are worth differs from record to"
        " record."
    )
    suggestion_method: SuggestionMethod
    suggestion_reason: str | None
    suggestion_metadata: dict[str, Any] | None
    status: SuggestionStatus
    created_at: datetime
    reviewed_at: datetime | None
    reviewed_by: str | None
    feedback: str | None
    link_id: UUID | None
    review_id: UUID | None = Field(description="Of the review that it is under: what `undo` takes.")
    relevance: float = Field(description="What `sort=relevance` sorts by: the log-odds of the score, moved by reviews.")
    requirement: ShortItem
    test_case: ShortItem

"""Suggestions and reviews as the API shows and takes them."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from chassis.web.listing import Page
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


class RequirementTexts(ShortItem):
    """All that a requirement says."""

    description: str
    tags: list[str]
    priority: str


class TestCaseTexts(RequirementTexts):
    """All that a test case says."""

    preconditions: str | None
    steps: dict[str, str] | None
    postconditions: str | None


class Span(BaseModel):
    """Where a matched term stands: from code point `start` to before `end` of a field, as it is in this answer."""

    side: Literal["requirement", "test_case"]
    field: str = Field(description="Like `description`, `steps.2` or `tags.0`.")
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    term: str = Field(description="As in `matched_terms`.")
    weight: float = Field(description="What the term adds to the score, wherever it stands.")


class Variant(BaseModel):
    """Another suggestion of the same requirement, whose test case is a variant of that of the row."""

    id: UUID
    similarity_score: float = Field(ge=0, le=1)
    band: Band
    test_case: ShortItem


class Suggestion(BaseModel):
    """A pair that may belong together, why, and what became of it.

    In `suggestion_metadata`, `components` have a score, a weight and their product, the contribution: the weights add
    up to 1, the contributions to `similarity_score`; the plain cosine of `tfidf` and `keyword` stands there with weight
    0. `calculation` says how the score of `texts` came about: the sum of weight x score over its `parts` is `likeness`,
    `csls` is 2 x likeness - requirement_neighbours - test_case_neighbours or, of nearly the same texts, 0.3 - 20 x (1 -
    likeness) where that is more, and the score is 1 / (1 + exp(-(intercept + slope x csls)) + exp(-certainty)): it
    stays below the probability whose log-odds are `certainty`, which what both items share allows.
    `matched_terms` are the words that count most, `against` the signs that the two are alike by chance, each with a
    `code` and a sentence in `detail`.

    Where reviews of like pairs were seen to help, `suggestion_metadata.reviews` says which, and by how much, in
    log-odds, they move the suggestion when sorted by relevance; the score is none of theirs.

    Where test cases that are suggested for the requirement are variants of one another, by a prefix, a parameter or a
    number, `suggestion_metadata.group` is the name that they share: those of one name are a group.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "0d3c2f62-7a0e-4a06-b4a7-0b5c1f5f6a11",
                    "requirement_id": "8c9f1c1e-4f1e-4d0c-9a39-6d1c5b3e2f22",
                    "test_case_id": "3b1d7e7a-2a51-4f5e-8f0b-9c2d4e6f7a33",
                    "similarity_score": 0.763725,
                    "band": "high",
                    "suggestion_method": "hybrid",
                    "suggestion_reason": "Both texts speak of “badge”, “door” and 4 more; same module, combined score"
                    " 0.76. Requirement: “A valid badge opens the door.” Test case: “Hold a valid badge to the door.”"
                    " Against it: other test cases are more like this requirement.",
                    "suggestion_metadata": {
                        "algorithm": "hybrid",
                        "components": {
                            "texts": {"score": 0.755849, "weight": 0.967742, "contribution": 0.731467},
                            "heuristic": {"score": 1.0, "weight": 0.032258, "contribution": 0.032258},
                        },
                        "matched_terms": [{"term": "badge", "weight": 0.31}, {"term": "door", "weight": 0.2}],
                        "other_terms": 4,
                        "other_weight": 0.221467,
                        "against": [
                            {
                                "code": "closer_test_cases",
                                "detail": "other test cases are more like this requirement",
                            }
                        ],
                        "calculation": {
                            "parts": {
                                "semantic": {"score": 0.41, "weight": 0.666667},
                                "keyword": {"score": 0.47, "weight": 0.333333},
                            },
                            "likeness": 0.43,
                            "requirement_neighbours": 0.46,
                            "test_case_neighbours": 0.306366,
                            "csls": 0.093634,
                            "intercept": -0.75,
                            "slope": 24.0,
                            "certainty": 2.31,
                            "probability": 0.755849,
                        },
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
    band: Band = Field(
        description="Of the score, by whichever method: `very_high` from 0.90, `high` from 0.75, `moderate` from 0.60,"
        " `low` below."
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
    requirement: ShortItem | RequirementTexts = Field(description="With `expand=texts`, all that it says.")
    test_case: ShortItem | TestCaseTexts = Field(description="With `expand=texts`, all that it says.")
    more_of_requirement: int | None = Field(
        default=None,
        description="With `per_requirement`: how many more suggestions of this status its requirement has than that;"
        " with `variants`, how many more rows.",
    )
    variants: list[Variant] | None = Field(
        default=None,
        description="With `variants=together`: the others of its group, the best first, at most 99: what to review"
        " with it (`bulk-review`).",
    )
    spans: list[Span] | None = Field(
        default=None,
        description="With `expand=texts`: where the matched terms that both texts have now stand, without overlaps.",
    )
    spans_cut: bool | None = Field(
        default=None,
        description="With `expand=texts`: whether texts are so long that there may be more spans than these.",
    )


class QueuePage(Page[Suggestion]):
    """One page of the list; `total` counts what `per_requirement` and `variants` leave of it."""

    total_of_all: int = Field(
        description="How many there are under the other filters, whatever `per_requirement` and `variants` say."
    )

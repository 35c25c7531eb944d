"""The tool `candidates`: what could cover a requirement, and what people said to it before."""

import asyncio
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gateway.mcp.arguments import Arguments
from gateway.mcp.record import Json, Named, Record, find_item, named
from gateway.mcp.tools.tool import Tool

_MOST = 10
_TERMS = 8


class CandidatesArguments(Arguments):
    requirement: Annotated[str, Field(min_length=1, description="Its id or key.")]
    limit: Annotated[int, Field(ge=1, le=_MOST)] = _MOST


class Candidate(TypedDict):
    suggestion_id: str
    test_case: Named
    score: float
    band: str
    reason: str | None
    matched_terms: list[str]


class Rejected(TypedDict):
    test_case: Named
    score: float | None
    by: str | None
    at: str | None
    feedback: str | None


class Candidates(TypedDict):
    requirement: Named
    items: list[Candidate]
    total: int
    rejected: list[Rejected]
    more_rejected: bool
    looked_at_all: bool
    next: NotRequired[str | None]
    shortened: NotRequired[bool]


async def _run(record: Record, asked: CandidatesArguments) -> Candidates:
    item = await find_item(record, asked.requirement)
    of_item = {"requirement_id": item["id"], "limit": asked.limit}
    pending, rejected, refused, search = await asyncio.gather(
        record.get("/suggestions", status="pending", sort="score:desc", **of_item),
        record.get("/suggestions", status="rejected", **of_item),
        record.get("/proposals", status="rejected", kind="link", **of_item),
        record.get("/suggestions/progress"),
    )
    return {
        "requirement": named(item),
        "items": [_candidate(row) for row in pending["items"]],
        "total": pending["total"],
        "rejected": [
            *(_rejected(row, row["similarity_score"]) for row in rejected["items"]),
            # One that was attached to a suggestion was rejected as that; of a test case that is gone nobody asks.
            *(
                _rejected(row, row["engine_score"])
                for row in refused["items"]
                if row["suggestion_id"] is None and row["test_case"]
            ),
        ],
        "more_rejected": any(page["next_after"] is not None for page in (rejected, refused)),
        "looked_at_all": search["is_complete"],
    }


def _rejected(row: Json, score: float | None) -> Rejected:
    return {
        "test_case": named(row["test_case"]),
        "score": score,
        "by": row["reviewed_by"],
        "at": row["reviewed_at"],
        "feedback": row["feedback"],
    }


def _candidate(row: Json) -> Candidate:
    metadata = row["suggestion_metadata"] or {}
    return {
        "suggestion_id": row["id"],
        "test_case": named(row["test_case"]),
        "score": row["similarity_score"],
        "band": row["band"],
        "reason": row["suggestion_reason"],
        "matched_terms": [one["term"] for one in metadata.get("matched_terms", [])][:_TERMS],
    }


CANDIDATES = Tool(
    "candidates",
    "Which test cases could cover a requirement",
    "The best test cases for a requirement by text similarity, each with its score, reason and matched terms; and which"
    " people rejected before, with what they said: those are refused until a text changes. Read both texts with get"
    " before you propose one. An empty list means that none of the texts that were compared is like it: find looks for"
    " other words. `looked_at_all` is false while some are still to be compared.",
    CandidatesArguments,
    Candidates,
    _run,
)

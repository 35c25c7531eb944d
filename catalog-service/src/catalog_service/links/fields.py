"""What is stored of a link."""

from datetime import datetime
from typing import Annotated, TypedDict
from uuid import UUID

from pydantic import Field

Score = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]


class StoredLink(TypedDict):
    """A link as it is stored: the fields that are answered, in this order."""

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    link_type: str
    link_source: str
    confidence_score: float | None
    notes: str | None
    created_at: datetime
    created_by: str | None
    confirmed_at: datetime | None
    confirmed_by: str | None
    updated_at: datetime


COLUMNS = tuple(StoredLink.__annotations__)
ORIGIN = ("requirement_version", "test_case_version", "suggestion_id")
"""What is told beside: for which versions of its items a link was made or confirmed, and from which suggestion."""

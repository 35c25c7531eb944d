"""What search answers, for the OpenAPI document."""

from enum import StrEnum
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from chassis.web.listing import Page


class ItemKind(StrEnum):
    REQUIREMENT = "requirement"
    TEST_CASE = "test_case"


class SearchHit(BaseModel):
    """A requirement or test case that was found."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "requirement",
                "id": "5f1c1f0e-6c33-4bb0-9f43-3f1d0f6b4c11",
                "external_id": "REQ-014",
                "title": "Sign in with a password",
                "module": "accounts",
                "status": "approved",
                "score": 0.41,
                "snippet": "A user <mark>signs</mark> in with e-mail and <mark>password</mark>",
            }
        }
    )

    type: ItemKind
    id: UUID
    external_id: str | None
    title: str
    module: str | None
    status: str
    score: float = Field(
        description="A rank of 0..1; plus 2 when external_id is the query, plus 1 when it begins with the query."
    )
    snippet: str = Field(description="HTML: hits in mark elements, everything else escaped.")


class SearchPage(Page[SearchHit]):
    """A page of what was found."""

    did_you_mean: str | None = Field(
        description="When nothing is found: the query with each word that is nowhere replaced by the nearest that is.",
        examples=["receive a message"],
    )

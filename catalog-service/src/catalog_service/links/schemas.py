"""Links as the API takes and gives them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

from catalog_service.items.ends import named_by_either
from catalog_service.items.kinds import BRIEF
from catalog_service.items.schemas import NewBody, OptionalText, ShortItem, UpTo100, absent
from catalog_service.links.fields import Score
from catalog_service.requirements.schemas import REQUIREMENT_EXAMPLE, Requirement
from catalog_service.test_cases.schemas import TEST_CASE_EXAMPLE, TestCase
from catalog_service.values import LinkSource, LinkType
from chassis.messaging.events import Actor
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged


class LinkCreate(NewBody):
    """A link to make by hand. Each end is named by its id or by its external_id.

    A link made by hand is `manual` and its confidence is 1.0: what is sent for `link_source` or `confidence_score`, as
    a client does that sends a link back as it read it, is not stored. The answer shows the link as it is.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "requirement_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                    "test_case_id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
                    "link_type": "verifies",
                    "notes": "Agreed in the review of 2 March",
                },
                {"requirement_external_id": "REQ-42", "test_case_external_id": "TC-7"},
            ],
            "allOf": [named_by_either("requirement"), named_by_either("test_case")],
        },
    )

    requirement_id: UUID | None = None
    requirement_external_id: UpTo100 = None
    test_case_id: UUID | None = None
    test_case_external_id: UpTo100 = None
    link_type: LinkType = LinkType.COVERS
    confidence_score: Annotated[Score | None, Field(description="Checked, not stored: it is 1.0.")] = None
    notes: OptionalText = None


class LinkPatch(BaseModel):
    """A JSON merge patch of a link."""

    model_config = ConfigDict(
        extra="forbid", use_enum_values=True, json_schema_extra={"examples": [{"notes": "Looked at again"}]}
    )

    link_type: LinkType = Field(default_factory=absent)
    notes: OptionalText = None


class NewerSide(BaseModel):
    """How far an item has moved on since its link was made or last confirmed."""

    from_version: int
    to_version: int
    fields: list[str]


class SuspectReason(BaseModel):
    """Why a link is suspect: for each side that is newer, from which version to which, and which fields."""

    summary: Annotated[str, Field(description="The same as a sentence.")]
    requirement: NewerSide | None
    test_case: NewerSide | None


_EXAMPLE: JsonDict = {
    "id": "c3a7f5de-2f5e-4b7c-a2f0-9a4f6d1b7e33",
    "requirement_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
    "test_case_id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
    "link_type": "verifies",
    "link_source": "manual",
    "confidence_score": 1.0,
    "notes": None,
    "created_at": "2026-03-02T08:30:00.123456Z",
    "created_by": "kim@example.com",
    "confirmed_at": None,
    "confirmed_by": None,
    "updated_at": "2026-03-02T08:30:00.123456Z",
    "requirement_version": 1,
    "test_case_version": 1,
    "suggestion_id": None,
    "suspect": True,
    "suspect_reason": {
        "summary": "The requirement went from version 1 to 2 (title) after this link was made or last confirmed.",
        "requirement": {"from_version": 1, "to_version": 2, "fields": ["title"]},
        "test_case": None,
    },
}
ENDS_EXAMPLE: JsonDict = {
    "requirement": {name: REQUIREMENT_EXAMPLE[name] for name in BRIEF},
    "test_case": {name: TEST_CASE_EXAMPLE[name] for name in BRIEF},
}
EXPANDED_LINK_EXAMPLE: JsonDict = {**_EXAMPLE, **ENDS_EXAMPLE}
_LINKED_EXAMPLE: JsonDict = {
    "link_id": _EXAMPLE["id"],
    "link_type": "verifies",
    "link_source": "manual",
    "confidence_score": 1.0,
    "suspect": True,
    "linked_at": _EXAMPLE["created_at"],
    "link": _EXAMPLE,
    **ENDS_EXAMPLE,
}


class Link(BaseModel):
    """A link. It is suspect while either item is newer than it was when the link was made or last confirmed."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    link_type: LinkType
    link_source: LinkSource
    confidence_score: float | None
    notes: Annotated[str | None, Field(description="Of one that was accepted, at first the note of the review.")]
    created_at: datetime
    created_by: Annotated[str | None, Field(description="The email of who made it, or accepted its suggestion.")]
    confirmed_at: datetime | None
    confirmed_by: Annotated[str | None, Field(description="The email of who confirmed it last.")]
    updated_at: Annotated[datetime, Field(description="When it was made, changed or confirmed last.")]
    requirement_version: Annotated[
        int, Field(description="The version of the requirement that it was made or last confirmed for.")
    ]
    test_case_version: Annotated[int, Field(description="That of the test case.")]
    suggestion_id: Annotated[
        UUID | None, Field(description="The suggestion that it was accepted from; its score is `confidence_score`.")
    ]
    suspect: bool
    suspect_reason: SuspectReason | None


class ExpandedLink(Link):
    """A link, with both its items where `expand=items` asks for them."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXPANDED_LINK_EXAMPLE]})

    requirement: ShortItem | SkipJsonSchema[None] = None
    test_case: ShortItem | SkipJsonSchema[None] = None


class ListedLink(Tagged, ExpandedLink):
    """A link as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**EXPANDED_LINK_EXAMPLE, **TAGGED_EXAMPLE}]})


class _Linked(BaseModel):
    link_id: UUID
    link_type: LinkType
    link_source: LinkSource
    confidence_score: float | None
    suspect: bool
    linked_at: Annotated[datetime, Field(description="When the link was made.")]
    link: Link
    requirement: ShortItem
    test_case: ShortItem


class LinkedTestCase(TestCase, _Linked):
    """A test case with its link to the requirement."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**TEST_CASE_EXAMPLE, **_LINKED_EXAMPLE}]})


class LinkedRequirement(Requirement, _Linked):
    """A requirement with its link to the test case."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**REQUIREMENT_EXAMPLE, **_LINKED_EXAMPLE}]})


class Reviewer(BaseModel):
    """Who accepted a suggestion."""

    id: int | None
    email: str

    def as_actor(self) -> Actor:
        """Return them as the actor of an event."""
        return Actor(self.id, self.email)


class AcceptedSuggestion(NewBody):
    """A suggestion that was accepted, and the link that it asks for."""

    suggestion_id: UUID
    requirement_id: UUID
    test_case_id: UUID
    confidence_score: Score
    link_type: LinkType = LinkType.COVERS
    notes: str | None = None
    actor: Reviewer
    review_id: UUID | None = None
    link_id: Annotated[
        UUID | None, Field(description="Of the link that is known to have been made: it is not made again.")
    ] = None


class AcceptedSuggestions(BaseModel):
    """What suggestion-service sends when suggestions were accepted."""

    accepted: Annotated[list[AcceptedSuggestion], Field(max_length=500)]


class UndoneReview(NewBody):
    """A suggestion that is to be pending again; `link_id` is of the link that accepting it made."""

    suggestion_id: UUID
    requirement_id: UUID
    test_case_id: UUID
    link_id: UUID | None = None
    review_id: UUID | None = None
    actor: Reviewer


class UndoneReviews(BaseModel):
    """What suggestion-service sends when reviews are undone."""

    undone: Annotated[list[UndoneReview], Field(max_length=500)]

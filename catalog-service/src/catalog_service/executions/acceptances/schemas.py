"""Bodies and answers of accepted failures."""

import re
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)
from pydantic.config import JsonDict

from catalog_service.executions.schemas import AcceptanceOfTest, ShortTest
from catalog_service.items.schemas import ShortItem
from chassis.web.text_forms import NOT_BLANK

LONGEST_REASON = 2000
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_REASON), NOT_BLANK]
IssueUrl = Annotated[str, Field(max_length=2000, pattern=r"^https?://[^\s/?#]+\S*$")]
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)
_TEST: JsonDict = {"id": 17, "class_name": "tests.test_doors", "name": "test_doors", "by_hand": False}


def _day_or_time(value: object) -> date | datetime:
    # Pydantic takes midnight for a day, and numbers for either.
    try:
        if isinstance(value, str):
            return date.fromisoformat(value) if _DAY.fullmatch(value) else _TIME.validate_strings(value)
    except ValueError:
        pass
    raise ValueError("Give a day, such as 2026-12-24, or a time with its offset, such as 2026-12-24T18:00:00Z.")


class EndedBecause(StrEnum):
    """Why a failure is not accepted any more."""

    UNTIL = "until"
    NO_LONGER_NEEDED = "no_longer_needed"
    PERSON = "person"


class AcceptedFailureWrite(BaseModel):
    """A failure to accept: of an automated test, or of all tests of a test case."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "automated_test_id": 17,
                    "reason": "The supplier mends the left door with version 2.4.",
                    "until": "2026-12-24",
                    "issue_url": "https://issues.example.com/DOOR-7",
                }
            ]
        },
    )

    automated_test_id: Annotated[int | None, Field(ge=1, lt=2**63)] = None
    test_case_id: UUID | None = None
    reason: Reason
    until: Annotated[
        date | AwareDatetime,
        BeforeValidator(_day_or_time),
        Field(description="Until when: a day, to its end in UTC, or a time with its offset; at most 90 days ahead."),
    ]
    issue_url: Annotated[IssueUrl | None, Field(description="Where it is worked on.")] = None

    @model_validator(mode="after")
    def _either(self) -> "AcceptedFailureWrite":
        if (self.automated_test_id is None) == (self.test_case_id is None):
            raise ValueError("Give either automated_test_id or test_case_id.")
        return self


class AcceptedTest(ShortTest):
    """A test as CI names it, or what people execute."""

    by_hand: bool


class AcceptedFailure(BaseModel):
    """A failure that is accepted, or was."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "3c1e7a52-7a0e-4b60-9a2f-9c3a3f1f7a21",
                    "automated_test_id": 17,
                    "automated_test": _TEST,
                    "test_case_id": None,
                    "test_case": None,
                    "reason": "The supplier mends the left door with version 2.4.",
                    "until": "2026-12-24T23:59:59.999999Z",
                    "issue_url": "https://issues.example.com/DOOR-7",
                    "active": True,
                    "created_by": "reviewer@example.com",
                    "created_at": "2026-11-27T08:15:00.000000Z",
                    "ended_at": None,
                    "ended_by": None,
                    "ended_because": None,
                }
            ]
        }
    )

    id: UUID
    automated_test_id: int | None
    automated_test: AcceptedTest | None
    test_case_id: UUID | None
    test_case: Annotated[ShortItem | None, Field(description="Null for a test, and when it is deleted.")]
    reason: str
    until: datetime
    issue_url: str | None
    active: bool
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: Annotated[str | None, Field(description="Who ended it; null where it ended by itself.")]
    ended_because: Annotated[
        EndedBecause | None,
        Field(description="no_longer_needed: the test has passed three whole runs since, wherever it had failed."),
    ]


_REQUIREMENT: JsonDict = {
    "id": "5a0b5a4e-7a39-4d0c-8a6e-0b7f3c2d9e11",
    "external_id": "REQ-3",
    "title": "Doors open",
    "module": "doors",
}


class PassedFailure(AcceptanceOfTest):
    """A failing test that a gate lets pass, since its failure is accepted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "3c1e7a52-7a0e-4b60-9a2f-9c3a3f1f7a21",
                    "reason": "The supplier mends the left door with version 2.4.",
                    "until": "2026-12-24T23:59:59.999999Z",
                    "accepted_by": "reviewer@example.com",
                    "issue_url": "https://issues.example.com/DOOR-7",
                    "test_case": {**_REQUIREMENT, "external_id": "TC-7"},
                    "test": _TEST,
                    "environment": None,
                    "lane": "ci/e2e",
                    "requirements": [_REQUIREMENT],
                }
            ]
        }
    )

    test_case: ShortItem
    test: AcceptedTest
    environment: str | None
    lane: str
    requirements: Annotated[list[ShortItem], Field(description="Those that fail for nothing else, by name.")]

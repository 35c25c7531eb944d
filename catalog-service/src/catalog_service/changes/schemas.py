"""What changes answer, for the OpenAPI document."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class ChangeAction(StrEnum):
    """What happened."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class RecordChange(BaseModel):
    """A requirement, test case, link or relation was created, changed or deleted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "position": 1207,
                    "type": "link",
                    "action": "deleted",
                    "id": "c3a7f5de-2f5e-4b7c-a2f0-9a4f6d1b7e33",
                    "time": "2026-03-02T08:31:00.123456Z",
                    "actor": "kim@example.com",
                    "state": None,
                }
            ]
        }
    )

    position: Annotated[int, Field(description="Its place; places only go up, and some are left out.")]
    type: Literal["requirement", "test_case", "link", "relation"]
    action: ChangeAction
    id: UUID
    time: datetime
    actor: Annotated[str, Field(description="The email of who did it.")]
    state: Annotated[
        dict[str, Any] | None,
        Field(
            description="All fields as they are after it, those of a link or relation without `suspect` and"
            " `suspect_reason`; null when it was deleted."
        ),
    ]


class RecordChanges(BaseModel):
    """Changes in order, and where to go on."""

    items: list[RecordChange]
    next_after: Annotated[int, Field(description="`after` of the next call, also when there is nothing now.")]
    head: Annotated[int, Field(description="The newest position that there is: equal to `next_after` at the end.")]

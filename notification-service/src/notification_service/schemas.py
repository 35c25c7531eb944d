"""What the API shows, for the OpenAPI document."""

from datetime import date, datetime
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from chassis.web.listing import Page
from notification_service.vocabulary import AuditAction, NotificationType, ResourceType

NotificationId = Annotated[int, Path(ge=1, le=2**63 - 1, description="A notification's id.")]


class Notification(BaseModel):
    """A notification of a user."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 42,
                    "project": "MAIN",
                    "type": "requirement_created",
                    "title": "Requirement created",
                    "message": "You created the requirement REQ-12 “Lock the account after five failures”.",
                    "data": {"requirement_id": "5f0c3b1e-2f6e-4a53-9d0d-0a8f6f1f5a11"},
                    "read": False,
                    "read_at": None,
                    "created_at": "2026-01-31T12:00:00Z",
                }
            ]
        }
    )

    id: int
    project: str = Field(description="The key of the project that it is about.")
    type: NotificationType
    title: str
    message: str
    data: dict[str, Any]
    read: bool
    read_at: datetime | None
    created_at: datetime


class NotificationList(Page[Notification]):
    """One page of the caller's notifications; `unread_count` counts all of them."""

    unread_count: int


class UnreadCount(BaseModel):
    """How many notifications the caller has not read."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"unread_count": 3}]})

    unread_count: int


class Marked(BaseModel):
    """How many notifications were marked read."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"marked": 3}]})

    marked: int


_ACTIVITY: JsonDict = {
    "id": 7,
    "occurred_at": "2026-01-31T12:00:00Z",
    "actor": "ana@example.com",
    "actor_id": 3,
    "action": "requirement.updated",
    "resource_type": "requirement",
    "resource_id": "5f0c3b1e-2f6e-4a53-9d0d-0a8f6f1f5a11",
    "resource_title": "Lock the account after five failures",
    "summary": "ana@example.com changed title of the requirement REQ-12 “Lock the account after five failures”.",
}


class Activity(BaseModel):
    """Who did what to which item."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ACTIVITY]})

    id: int
    occurred_at: datetime
    actor: str
    actor_id: int | None
    action: AuditAction
    resource_type: ResourceType
    resource_id: str | None
    resource_title: str | None
    summary: str


class ActivityList(Page[Activity]):
    """One page of what was done to items."""

    kept_since: datetime | None = Field(
        description="When the oldest entry of the project was made, if older ones were removed by age; else null."
    )


class FieldChange(BaseModel):
    """A field before and after."""

    before: Any
    after: Any


class AuditEntry(Activity):
    """One line of the audit log."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_ACTIVITY,
                    "changes": {
                        "title": {"before": "Lock the account", "after": "Lock the account after five failures"}
                    },
                    "details": {"version": 2},
                    "request_id": "0a8f6f1f5a114c5b9d0d5f0c3b1e2f6e",
                    "gateway_request_id": "5f0c3b1e2f6e4a539d0d0a8f6f1f5a11",
                    "resource_ids": None,
                }
            ]
        }
    )

    changes: dict[str, FieldChange]
    details: dict[str, Any] | None
    request_id: str = Field(description="X-Request-ID, which a caller may choose.")
    gateway_request_id: str | None = Field(
        description="The id that the gateway gave the request; null where the work was done later, in the background."
    )
    resource_ids: list[str] | None = Field(
        description="The resources of what was done to several at once, the same to each; then `resource_id` is null."
    )


class SignedAuditHead(BaseModel):
    """The head of a chain as of a day, signed with a key that the database does not have."""

    day: date
    entries: int
    hash: str
    key: str = Field(
        description="Which key it is signed with: another one after that of notification-service has changed."
    )
    signature: str = Field(description="HMAC-SHA256 of project, day, entries and hash.")


class AuditChain(BaseModel):
    """Whether the chain of the project's audit log is whole."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "entries": 1159,
                    "checked": True,
                    "wrong": None,
                    "erased": 0,
                    "unsealed": 0,
                    "sealed_at": "2026-03-02T08:15:00.000000Z",
                    "signed_on": "2026-03-02",
                }
            ]
        }
    )

    entries: int = Field(description="How many have a seal and are kept.")
    checked: bool = Field(description="false: there are too many to follow them in a request.")
    wrong: str | None = Field(description="The first that is wrong; null where none is, or none was looked at.")
    erased: int = Field(description="Entries that an erased person was taken out of, which is told in others.")
    unsealed: int = Field(description="The newest, which get their seal within a second.")
    sealed_at: datetime | None = Field(description="When the last entry with a seal was made.")
    signed_on: date | None = Field(description="When a head of the chain was signed last.")


class AuditHead(BaseModel):
    """The last seal of the audit log of the project: how many entries there have ever been, and their hash."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"entries": 1234, "hash": f"{42:064x}", "signed": None}]})

    entries: int
    hash: str | None = Field(description="SHA-256, hexadecimal; null while there is no entry.")
    signed: SignedAuditHead | None

"""What API tokens look like on the wire."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, StringConstraints

from auth_service.projects.schemas import KeyOfProject
from chassis.web.text_forms import NOT_BLANK
from contracts.api_tokens import DEFAULT_LIFETIME, LONGEST_LIFETIME, Scope

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    NOT_BLANK,
    Field(description="What tells it from others, such as who uses it.", examples=["nightly import"]),
]


def _unique(values: list[str]) -> list[str]:
    return sorted(set(values))


def _in_time(value: datetime) -> datetime:
    now = datetime.now(UTC)
    if value <= now:
        raise ValueError("This time is over; name one to come, or leave it out for 90 days.")
    if value > now + LONGEST_LIFETIME + timedelta(minutes=1):
        raise ValueError("A token lives for a year at most; make a new one before it ends.")
    return value


class NewApiToken(BaseModel):
    """What somebody asks for."""

    name: Name
    scopes: Annotated[
        list[Scope],
        Field(
            min_length=1,
            max_length=len(Scope),
            description="What it may do; each but badge may read.",
            examples=[["write"]],
        ),
        AfterValidator(_unique),
    ]
    projects: Annotated[
        list[KeyOfProject] | None,
        Field(min_length=1, max_length=100, description="Keys of the only projects it is for; null for all of yours."),
    ] = None
    expires_at: Annotated[
        Annotated[AwareDatetime, AfterValidator(_in_time)] | None,
        Field(description="At most a year from now; without it, in 90 days."),
    ] = None

    @property
    def ends_at(self) -> datetime:
        """When it ends, whether that was said or not."""
        return datetime.now(UTC) + DEFAULT_LIFETIME if self.expires_at is None else self.expires_at


class ApiToken(BaseModel):
    """An API token as its owner sees it: never the secret."""

    id: int = Field(examples=[12])
    name: str = Field(examples=["nightly import"])
    scopes: list[Scope]
    projects: list[str] | None
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = Field(description="To the hour; null: never.")


class MadeApiToken(ApiToken):
    """A new API token, with its secret."""

    token: str | None = Field(
        description="What to send as `Authorization: Bearer`. It is shown this once: null when an Idempotency-Key"
        " repeats the request.",
        examples=["tlp_..."],
    )
    warnings: list[str] = Field(
        description="Which of its scopes come to nothing, since its owner has no role that may do so.", examples=[[]]
    )

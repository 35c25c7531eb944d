"""What sessions look like on the wire."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic.json_schema import SkipJsonSchema

from chassis.core.identity import Role
from contracts.projects import DEMO

_EMAIL = "kim@example.com"
_PASSWORD = "correct horse battery"  # noqa: S105 - an example


class SignIn(BaseModel):
    """Who signs in."""

    email: Annotated[str, Field(min_length=1, max_length=254, examples=[_EMAIL])]
    password: Annotated[SecretStr, Field(min_length=1, max_length=128, examples=[_PASSWORD])]
    otp: Annotated[
        SecretStr | None,
        Field(max_length=64, description="A code of the phone, or a recovery code: for who has a second factor."),
    ] = None


class SessionUser(BaseModel):
    """The user of a session, as stored now."""

    id: int = Field(examples=[7])
    email: str = Field(examples=[_EMAIL])
    full_name: str = Field(examples=["Kim Person"])
    role: Role
    is_active: bool
    created_at: datetime


class Session(BaseModel):
    """A session: whose it is, and when it ends unless it is renewed."""

    user: SessionUser
    expires_at: datetime


class DemoAccount(BaseModel):
    """The account of a demo on this machine, which everybody knows."""

    model_config = ConfigDict(frozen=True)

    email: str
    password: str = Field(json_schema_extra={"format": "password"})
    project: str = Field(description="The key of the demo's project.", examples=[DEMO])


class CurrentSession(BaseModel):
    """The session of whoever asks; `user` is null when there is none."""

    user: SessionUser | None
    expires_at: datetime | SkipJsonSchema[None] = Field(default=None, description="Left out when there is no session.")
    demo: DemoAccount | SkipJsonSchema[None] = Field(default=None, description="In a demo on this machine alone.")

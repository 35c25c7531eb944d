"""What users look like on the wire."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StrictBool, StringConstraints
from pydantic.json_schema import WithJsonSchema
from typing_extensions import TypedDict

from auth_service.users.emails import MAX_LENGTH, parse_email
from chassis.core.identity import Role
from chassis.web.tagged import Tagged
from chassis.web.text_forms import NOT_BLANK

Email = Annotated[str, Field(max_length=MAX_LENGTH, examples=["kim@example.com"]), AfterValidator(parse_email)]
Password = Annotated[SecretStr, Field(min_length=8, max_length=128, examples=["correct horse battery"])]
FullName = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    NOT_BLANK,
    Field(examples=["Kim Person"]),
]


class User(BaseModel):
    """A user as the API shows one."""

    id: int = Field(examples=[7])
    email: str = Field(examples=["kim@example.com"])
    full_name: str = Field(examples=["Kim Person"])
    role: Role
    is_active: bool
    created_at: datetime


class ListedUser(Tagged, User):
    """A user as a row of a list."""


class Registration(BaseModel):
    """What somebody gives to get an account of their own."""

    email: Email
    password: Password
    full_name: FullName


class ToConfirm(BaseModel):
    """What somebody does next who has to show that the address is theirs."""

    detail: str


class NewUser(Registration):
    """What an admin gives to make an account."""

    role: Role = Role.VIEWER
    # Not a union with SkipJsonSchema: of that an error would point at one of its kinds.
    must_change_password: Annotated[StrictBool | None, WithJsonSchema({"type": "boolean"})] = Field(
        default=None,
        description="Whether they have to choose another password at the first log-in. In production they have to,"
        " unless you say otherwise.",
    )


class UserChange(TypedDict, total=False):
    """A JSON merge patch of a user: what is not sent is not there, and nothing can be removed."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    role: Role
    is_active: StrictBool
    full_name: FullName

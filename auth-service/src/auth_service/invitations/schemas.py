"""What invitations look like on the wire."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from auth_service.one_time_links import LinkToken
from auth_service.projects.schemas import KeyOfProject
from auth_service.users.schemas import Email, FullName, Password
from chassis.core.identity import Role

ProjectKey = Annotated[KeyOfProject, Field(examples=["DOOR"])]


class NewInvitation(BaseModel):
    """Who is invited, and to what."""

    email: Email
    role: Role = Field(
        default=Role.VIEWER,
        description="Of the account. With `project` it is the role there, and the account is a viewer's.",
    )
    project: ProjectKey | None = Field(default=None, description="The key of a project.")


class Invitation(BaseModel):
    """An invitation that nobody has accepted or revoked; when it expired, it works no more."""

    id: int = Field(examples=[3])
    email: str = Field(examples=["kim@example.com"])
    role: Role
    project: str | None
    created_at: datetime
    created_by: int | None = Field(
        description="The id of the admin who invited; null: whoever registered asked for it."
    )
    expires_at: datetime


class MadeInvitation(Invitation):
    """A new invitation, with its link."""

    link: str = Field(
        description="Shown this once; give it to whom you invite.",
        examples=["https://traceline.example.com/accept-invitation#..."],
    )


class Acceptance(BaseModel):
    """The secret of a link, and what makes an account of it."""

    token: LinkToken
    password: Password
    full_name: FullName

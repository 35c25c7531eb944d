"""What resetting a password looks like on the wire."""

from datetime import datetime

from pydantic import BaseModel, Field

from auth_service.one_time_links import LinkToken
from auth_service.users.schemas import Password


class ResetLink(BaseModel):
    """A link by which a user chooses a new password."""

    link: str = Field(description="Shown this once.", examples=["https://traceline.example.com/reset-password#..."])
    expires_at: datetime


class NewPassword(BaseModel):
    """The secret of a link, and the password that is to be."""

    token: LinkToken
    new_password: Password

"""What logging in and changing a password look like on the wire."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, SecretStr

from auth_service.users.schemas import Password


class AccessToken(BaseModel):
    """The answer to a log-in."""

    access_token: str = Field(description="What to send as `Authorization: Bearer <ACCESS_TOKEN>`.")
    token_type: Literal["bearer"]
    expires_in: int = Field(description="Seconds.", examples=[3600])


class PasswordChange(BaseModel):
    """The present password and the next one."""

    current_password: Annotated[SecretStr, Field(max_length=128)]
    new_password: Password

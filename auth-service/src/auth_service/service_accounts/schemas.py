"""What service accounts look like on the wire."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from chassis.core.identity import Role
from chassis.web.text_forms import TextForm

ServiceRole = Literal[Role.VIEWER, Role.REVIEWER]


class NewServiceAccount(BaseModel):
    """What an admin of a project gives."""

    name: Annotated[
        str,
        TextForm(
            "[a-z][a-z0-9-]{0,39}",
            "is no name of a service account: that has at most 40 of a-z, 0-9 and hyphens, and begins with a letter",
        ),
        Field(description="Lower-case letters, digits and hyphens; one of a kind in its project.", examples=["ci"]),
    ]
    role: Annotated[ServiceRole, Field(description="What it may in the project at most.")] = Role.VIEWER


class ServiceAccount(BaseModel):
    """A service account of a project; what it does is done by its `email`, which gets no mail."""

    id: int = Field(description="Its id as a user.", examples=[31])
    name: str = Field(examples=["ci"])
    email: str = Field(examples=["ci-3f9a1c@door.service-account.invalid"])
    role: Role
    created_at: datetime
    created_by: int | None

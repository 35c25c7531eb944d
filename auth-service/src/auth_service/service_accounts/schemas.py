"""What service accounts look like on the wire."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from chassis.core.identity import Role

ServiceRole = Literal[Role.VIEWER, Role.REVIEWER]


class NewServiceAccount(BaseModel):
    """What an admin of a project gives."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,39}$"),
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

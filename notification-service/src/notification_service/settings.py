"""What this service reads from its environment."""

from typing import Literal

from pydantic import Field

from chassis.core.settings import ServiceSettings


class Settings(ServiceSettings):
    """With AUDIT_STREAM=stdout the worker writes each audit entry there, too, as a line of JSON.

    Audit entries older than AUDIT_RETENTION_DAYS are removed; left out, none is.
    """

    audit_stream: Literal["stdout"] | None = None
    audit_retention_days: int | None = Field(default=None, ge=30)

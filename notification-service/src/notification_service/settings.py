"""What this service reads from its environment."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from chassis.core.settings import ServiceSettings, SigningKey


def _none_if_empty(given: object) -> object:
    return given or None


class Settings(ServiceSettings):
    """With AUDIT_STREAM=stdout the worker writes each audit entry there, too, as a line of JSON.

    Audit entries older than AUDIT_RETENTION_DAYS are removed; left out, none is. The worker signs the heads of the
    audit log with a key that is made of its INTERNAL_SIGNING_KEY.
    """

    audit_stream: Annotated[Literal["stdout"] | None, BeforeValidator(_none_if_empty)] = None
    audit_retention_days: int | None = Field(default=None, ge=30)
    internal_signing_key: SigningKey | None = None

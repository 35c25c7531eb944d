"""Settings of the gateway."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from chassis.core.settings import origin, origin_or_none


def _origins(value: object) -> object:
    if not isinstance(value, str):
        return value
    if "*" in value:
        raise ValueError("name each origin, such as https://app.example.com; * is not taken")
    return tuple(origin(part) for part in value.split(",") if part.strip())


class Settings(BaseSettings):
    """Set by the environment variables of the fields' names."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    gateway_timeout_seconds: float = Field(default=30, gt=0)
    """How long a service may take until it begins to answer: then 504."""
    gateway_max_body_bytes: int = Field(default=1024 * 1024, ge=1)
    rate_limit_user: int = Field(default=120_000, ge=0)
    """Requests a minute of one user that a gateway takes, by whatever tokens; 0: any number. So are the next two."""
    rate_limit_token: int = Field(default=120_000, ge=0)
    """With one API token."""
    rate_limit_address: int = Field(default=6_000, ge=0)
    """From one address, without a token that works: log-ins, registrations, refused tokens."""
    public_url: Annotated[str | None, AfterValidator(origin_or_none)] = None
    """The address that people use. With https browsers use nothing else for a year."""
    docs: Literal["public", "signed-in", "off"] = "public"
    """Who may read /docs and the OpenAPI document: all, those with a token, none."""
    mcp: Literal["on", "off"] = "on"
    """Whether agents are answered at /mcp."""
    cors_allowed_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_origins)] = ()
    """Origins, with commas between, whose pages may call the API from a browser."""

"""Settings of the gateway."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Set by the environment variables of the fields' names."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    internal_token_secret: SecretStr = Field(min_length=32)
    gateway_timeout_seconds: float = Field(default=30, gt=0)
    """How long a service may take until it begins to answer: then 504."""
    gateway_max_body_bytes: int = Field(default=1024 * 1024, ge=1)


class Addresses(BaseSettings):
    """Where the services are, when each is a process of its own."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    auth_url: str
    catalog_url: str
    suggestion_url: str
    notification_url: str

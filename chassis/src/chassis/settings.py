"""Settings that every service reads from its environment."""

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class ServiceSettings(BaseSettings):
    """Base of each service's settings; a field is set by the environment variable of its name."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    environment: Literal["development", "production"] = "production"
    database_url: str
    database_pool_size: int = Field(default=8, ge=1, le=100)
    internal_token_secret: SecretStr = Field(min_length=32)

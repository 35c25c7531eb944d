"""What this service reads from its environment."""

from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.core.settings import ServiceSettings


class Settings(ServiceSettings):
    """Nothing beyond what every service reads."""


class Addresses(BaseSettings):
    """Where the services are whose events this one follows."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    auth_url: str
    catalog_url: str
    suggestion_url: str

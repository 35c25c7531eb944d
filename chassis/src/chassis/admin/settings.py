"""What the command reads from the environment, or from files in the folder SECRETS_DIR; never from its arguments."""

from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.core.settings import read


class _Address(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    url: str | None = None


def address_of(source: str) -> str | None:
    """Return the base URL of the service `source`, the setting CATALOG_URL for `catalog`; None when there is none."""
    return read(_Address, _env_prefix=f"{source}_").url

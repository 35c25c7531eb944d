"""What the command reads from the environment, or from files in the folder SECRETS_DIR; never from its arguments."""

from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.core.settings import read
from chassis.server.process.settings import ServiceAddress


class _Address(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    url: str | None = None


def address_of(source: str) -> str | None:
    """Return the base URL of the service `source`, the setting CATALOG_URL for `catalog`; None when there is none.

    SERVICE_URL says it of those without a setting of their own.
    """
    return read(_Address, _env_prefix=f"{source}_").url or read(ServiceAddress).of(f"{source}-service")

"""What every program reads about itself, and workers about the broker."""

from collections.abc import Iterable
from ipaddress import ip_network
from typing import Annotated, Any

from pydantic import AfterValidator, Field, create_model, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.core.tls import TlsSettings


def _addresses(text: str) -> str:
    """Refuse what is no list of addresses and networks.

    A star is none: uvicorn would then take the first address of X-Forwarded-For, which whoever calls may have written.
    """
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            ip_network(part)
        except ValueError:
            raise ValueError(
                f"{part} is neither an address nor a network, as 10.0.0.5 and 10.0.0.0/8 are, with commas between"
            ) from None
    return text


SERVICE = "{service}"


class ProxySettings(BaseSettings):
    """Who may say who calls."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    forwarded_allow_ips: Annotated[str, AfterValidator(_addresses)] = ""
    """Proxies in front, by address or network, whose X-Forwarded-For says who calls."""


class ProcessSettings(ProxySettings, TlsSettings):
    """Where a program listens, and how patiently it starts and ends."""

    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8000, ge=0, le=65535)
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where `GET /metrics` is answered, on HTTP_HOST, too; None: nowhere."""
    http_socket_fd: int | None = Field(default=None, ge=0)
    """A listening socket that the program was given by who started it, instead of host and port."""
    shutdown_grace_seconds: float = Field(default=20, ge=0)
    start_patience_seconds: float = Field(default=60, ge=0)
    restart_patience_seconds: float = Field(default=20, ge=0)
    """How long requests wait for a service that does not listen, as it may restart; after that they are 503 at once."""


def _of_any_service(url: str) -> str:
    if SERVICE not in url:
        raise ValueError(f"it must have {SERVICE} where the name of a service stands, as http://{SERVICE}:8000 has")
    return url


class ServiceAddress(BaseSettings):
    """Where services are that have no setting of their own."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    service_url: Annotated[str, AfterValidator(_of_any_service)] | None = None

    def of(self, service: str) -> str | None:
        """Return where a service is, None where that is not said."""
        return None if self.service_url is None else self.service_url.replace(SERVICE, service)


class _Addresses(ServiceAddress):
    """Where other services are."""

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: dict[str, Any]) -> dict[str, Any]:
        url = given.get("service_url", "")
        named = {name: f"{name.removesuffix('_url')}-service" for name in cls.model_fields if name != "service_url"}
        return {**({name: url.replace(SERVICE, named[name]) for name in named} if url else {}), **given}


def addresses(services: Iterable[str]) -> type[BaseSettings]:
    """Return the settings that say where these services are: SERVICE_URL, or CATALOG_URL for catalog-service."""
    fields: dict[str, Any] = {f"{name.removesuffix('-service')}_url": (str, ...) for name in services}
    return create_model("Addresses", __base__=_Addresses, **fields)


class BrokerSettings(BaseSettings):
    """Where the broker is, and as whom to log in there."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    rabbitmq_url: str

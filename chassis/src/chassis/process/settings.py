"""What every program reads about itself, and workers about the broker."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class ProcessSettings(BaseSettings):
    """Where a program listens, and how patiently it starts and ends."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8000, ge=0, le=65535)
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where `GET /metrics` is answered, on HTTP_HOST, too; None: nowhere."""
    http_socket_fd: int | None = Field(default=None, ge=0)
    """A listening socket that the program was given by who started it, instead of host and port."""
    forwarded_allow_ips: str = Field(default="", pattern=r"^[^*]*$")
    """Proxies in front, by address or network, whose X-Forwarded-For says who calls. Not `*`: uvicorn would then
    take the first address of that header, which whoever calls may have written."""
    shutdown_grace_seconds: float = Field(default=20, ge=0)
    start_patience_seconds: float = Field(default=60, ge=0)


class BrokerSettings(BaseSettings):
    """Where the broker is, and as whom to log in there."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    rabbitmq_url: str

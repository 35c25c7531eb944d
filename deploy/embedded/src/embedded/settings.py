"""Where the embedded run listens and keeps its data."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Set by TRACELINE_HOST, TRACELINE_PORT, TRACELINE_METRICS_PORT and TRACELINE_DATA_DIR."""

    model_config = SettingsConfigDict(env_prefix="TRACELINE_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where Prometheus may read `/metrics`; None: nowhere."""
    data_dir: Path = Path(".traceline")

"""Where the embedded run listens and keeps its data."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from embedded.failure import StartFailure

S = TypeVar("S", bound=BaseSettings)


class Settings(BaseSettings):
    """Set by TRACELINE_HOST, TRACELINE_PORT and TRACELINE_DATA_DIR."""

    model_config = SettingsConfigDict(env_prefix="TRACELINE_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    data_dir: Path = Path(".traceline")


def read(kind: type[S], **given: Any) -> S:
    """Read settings from the environment, completed by what is `given`; raise StartFailure for a wrong one."""
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = kind.model_config.get("env_prefix", "") + "_".join(str(part) for part in first["loc"])
        raise StartFailure(f"The setting {name.upper()} is wrong: {first['msg']}.") from None

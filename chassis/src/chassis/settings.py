"""Settings that come from the environment, or from files for those that are secret."""

import os
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.identity import InternalTokens
from chassis.start_failure import StartFailure

S = TypeVar("S", bound=BaseSettings)


class DatabaseSettings(BaseSettings):
    """For commands that need nothing but the database of one service."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    database_url: str


class ServiceSettings(BaseSettings):
    """Base of each service's settings; a field is set by the environment variable of its name."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    environment: Literal["development", "production"] = "production"
    database_url: str
    database_pool_size: int = Field(default=8, ge=1, le=100)
    internal_token_secret: SecretStr = Field(min_length=32)

    def internal_tokens(self) -> InternalTokens:
        """Give what issues and verifies the tokens that services trust."""
        return InternalTokens(self.internal_token_secret.get_secret_value())


def read(kind: type[S], **given: Any) -> S:
    """Read settings from the environment, completed by what is `given`; raise StartFailure for a wrong one.

    What the environment lacks is looked for in the folder SECRETS_DIR: a file a setting, of its name in lower
    case, as container platforms mount secrets.
    """
    folder = os.environ.get("SECRETS_DIR")
    if folder is not None and not Path(folder).is_dir():
        raise StartFailure(f"SECRETS_DIR is {folder}, and there is no such folder.")
    try:
        return kind(_secrets_dir=folder, **given)
    except ValidationError as error:
        first = error.errors()[0]
        name = (kind.model_config.get("env_prefix", "") + "_".join(str(part) for part in first["loc"])).upper()
        if first["type"] == "missing":
            raise StartFailure(f"The setting {name} is missing.") from None
        raise StartFailure(f"The setting {name} is wrong: {first['msg']}.") from None

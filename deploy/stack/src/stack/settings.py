"""What the environment decides for the stack; what is wrong for one of its services is said before anything starts."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

import auth_service.settings
import gateway.settings
from auth_service.startup import first_password
from chassis.core.settings import check, read, together
from chassis.core.start_failure import StartFailure
from chassis.server.http_server import is_loopback
from chassis.server.process.settings import ProxySettings
from embedded.services import SERVICES

_LONGEST_FOLDER = 80
"""Bytes that leave room for the names of the sockets below: the system allows 107 for the whole path."""


class Settings(BaseSettings):
    """Set by TRACELINE_HOST, TRACELINE_PORT and TRACELINE_DATA_DIR."""

    model_config = SettingsConfigDict(env_prefix="TRACELINE_", extra="ignore", frozen=True)

    host: str = Field(default="127.0.0.1", pattern=r"^[^:/\s]+$")
    """An IPv4 address, or a name that has one: supervisord listens at no other."""
    port: int = Field(default=8000, ge=1, le=65535)
    data_dir: Path | None = None
    """None: a folder of its own for the demo, and one for everything else."""

    def folder(self, *, demo: bool = False) -> Path:
        """Return the data folder; it need not be there."""
        return (self.data_dir or Path(".traceline-stack-demo" if demo else ".traceline-stack")).expanduser().resolve()


class Servers(BaseSettings):
    """Servers that are there already; without them the stack runs its own."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    database_url: SecretStr | None = None
    rabbitmq_url: SecretStr | None = None


def check_folder(folder: Path) -> None:
    """Raise StartFailure when sockets cannot be made below `folder`."""
    if len(os.fsencode(folder)) > _LONGEST_FOLDER or quote(str(folder), safe="/._-~+") != str(folder):
        raise StartFailure(
            f"The data folder {folder} has a path that sockets and their URLs do not allow; set TRACELINE_DATA_DIR to"
            f" one of at most {_LONGEST_FOLDER} letters, digits, points and dashes."
        )


@dataclass(frozen=True)
class AllSettings:
    """What the stack itself reads, and what auth-service does, which knows who can log in."""

    own: Settings
    servers: Servers
    auth: auth_service.settings.Settings

    @property
    def first_password(self) -> str | None:
        """What the default admin is to get at the first start; None when that is to be random."""
        return first_password(self.auth, on_loopback=is_loopback(self.own.host))


def read_settings() -> AllSettings:
    """Read the environment, before anything is started; raise StartFailure for all that is wrong in it.

    Unless the environment says otherwise, this is a development run.
    """
    os.environ.setdefault("ENVIRONMENT", "development")
    given = {"database_url": ""}  # each program is given its own later
    kinds: list[type[BaseSettings]] = [gateway.settings.Settings, *(service.settings for service in SERVICES)]
    together(
        lambda: check(Settings, Servers),
        lambda: check(ProxySettings, *kinds, **given),
    )
    settings = AllSettings(read(Settings), read(Servers), read(auth_service.settings.Settings, **given))
    _ = settings.first_password
    return settings

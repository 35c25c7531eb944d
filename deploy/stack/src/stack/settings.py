"""What the environment decides for the stack; what is wrong for one of its services is said before anything starts."""

import os
from pathlib import Path
from urllib.parse import quote

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

import auth_service.settings
import catalog_service.settings
import gateway.settings
import notification_service.settings
import suggestion_service.settings
from chassis.settings import read
from chassis.start_failure import StartFailure

_LONGEST_FOLDER = 80
"""Bytes that leave room for the names of the sockets below: the system allows 107 for the whole path."""


class Settings(BaseSettings):
    """Set by TRACELINE_HOST, TRACELINE_PORT and TRACELINE_DATA_DIR."""

    model_config = SettingsConfigDict(env_prefix="TRACELINE_", extra="ignore", frozen=True)

    host: str = Field(default="127.0.0.1", pattern=r"^[^:/\s]+$")
    """An IPv4 address, or a name that has one: supervisord listens at no other."""
    port: int = Field(default=8000, ge=1, le=65535)
    data_dir: Path = Path(".traceline-stack")


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


def check_services(internal_token_secret: str) -> auth_service.settings.Settings:
    """Give the settings of auth-service, which know who can log in; raise StartFailure for what no service takes."""
    secret = SecretStr(internal_token_secret)
    read(gateway.settings.Settings, internal_token_secret=secret)
    for service in (catalog_service, suggestion_service, notification_service):
        read(service.settings.Settings, internal_token_secret=secret, database_url="")
    auth = read(auth_service.settings.Settings, internal_token_secret=secret, database_url="")
    built_in = auth.default_admin_password.get_secret_value() == auth_service.settings.BUILT_IN_ADMIN_PASSWORD
    if built_in and auth.environment != "development":
        raise StartFailure(
            "Set DEFAULT_ADMIN_PASSWORD: the built-in password of the default admin is known to everyone and works"
            " only when ENVIRONMENT is development."
        )
    return auth

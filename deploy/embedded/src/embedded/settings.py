"""What the environment decides for the embedded run, its services included; all that is wrong is reported at once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

import auth_service.settings
import gateway.settings
from auth_service.settings import BUILT_IN_ADMIN_PASSWORD
from auth_service.startup import first_password
from chassis.core.internal_tokens import new_signing_key
from chassis.core.settings import ServiceSettings, check, read, together
from chassis.server.http_server import is_loopback
from chassis.server.process.settings import ProxySettings
from contracts.projects import DEMO
from contracts.routes import AUTH, CALLERS
from embedded.services import SERVICES
from gateway.session.schemas import DemoAccount


class Settings(BaseSettings):
    """Set by TRACELINE_HOST, TRACELINE_PORT, TRACELINE_METRICS_PORT and TRACELINE_DATA_DIR."""

    model_config = SettingsConfigDict(env_prefix="TRACELINE_", extra="ignore", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where Prometheus may read `/metrics`; None: nowhere."""
    data_dir: Path | None = None
    """None: a folder of its own for the demo, and one for everything else."""

    @property
    def on_loopback(self) -> bool:
        """Whether it is reached from this machine alone."""
        return is_loopback(self.host)


@dataclass(frozen=True)
class AllSettings:
    """The settings of every service, and the keys of this process that each caller of one signs with."""

    own: Settings
    proxies: ProxySettings
    gateway: gateway.settings.Settings
    services: Mapping[str, ServiceSettings]
    signing_keys: Mapping[str, str]

    @property
    def auth(self) -> auth_service.settings.Settings:
        """Those of auth-service, which knows who can log in."""
        found = self.services[AUTH.name]
        assert isinstance(found, auth_service.settings.Settings), "it reads its own"
        return found

    @property
    def first_password(self) -> str | None:
        """What the default admin is to get at the first start; None when that is to be random."""
        return first_password(self.auth, on_loopback=self.own.on_loopback)

    @property
    def demo_account(self) -> DemoAccount | None:
        """What the page of a demo signs in with by a button: an account that everybody knows, or none."""
        if self.first_password != BUILT_IN_ADMIN_PASSWORD:
            return None
        return DemoAccount(email=self.auth.default_admin_email, password=BUILT_IN_ADMIN_PASSWORD, project=DEMO)


def read_settings() -> AllSettings:
    """Read the environment, before anything is started; raise StartFailure for all that is wrong in it.

    Unless the environment says otherwise, this is a development run.
    """
    os.environ.setdefault("ENVIRONMENT", "development")
    # Where the databases are is known only once PostgreSQL runs.
    given = {"database_url": ""}
    kinds: list[type[BaseSettings]] = [gateway.settings.Settings, *(service.settings for service in SERVICES)]
    together(lambda: read(Settings), lambda: check(ProxySettings, *kinds, **given))
    keys = {caller: new_signing_key(caller) for caller in CALLERS}
    settings = AllSettings(
        read(Settings),
        read(ProxySettings),
        read(gateway.settings.Settings),
        {
            service.name: read(service.settings, internal_signing_key=keys.get(service.name), **given)
            for service in SERVICES
        },
        keys,
    )
    _ = settings.first_password
    return settings

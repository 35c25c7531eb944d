"""The database of each service on one PostgreSQL server: made when it is not there, and migrated."""

import time
from urllib.parse import urlsplit

import psycopg

from chassis.core.start_failure import StartFailure
from chassis.local.postgres import create_database
from embedded.databases import migrate
from stack.programs import SERVICES

_LOOK_AGAIN = 0.05


def urls(server: str) -> dict[str, str]:
    """Return the URL of each service's database on the server that has the database at `server`."""
    parts = urlsplit(server)
    return {service: parts._replace(path=f"/{package}").geturl() for service, package in SERVICES.items()}


def wait_for(server: str, *, patience: float, advice: str) -> None:
    """Return when the server lets us in; raise StartFailure, which gives `advice`, after `patience` seconds."""
    end = time.monotonic() + patience
    while True:
        try:
            psycopg.connect(server, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            if time.monotonic() >= end:
                reason = str(error).strip().replace("\n", " ")
                raise StartFailure(f"PostgreSQL does not let us in ({reason}); {advice}.") from None
            time.sleep(_LOOK_AGAIN)
        except psycopg.Error:
            # The error is not shown: the URL, which may hold a password, would be part of it.
            raise StartFailure(f"PostgreSQL's URL makes no sense; {advice}.") from None
        else:
            return


def prepare(server: str) -> None:
    """Make and migrate the database of each service; raise StartFailure when one cannot be."""
    databases = urls(server)
    for package in SERVICES.values():
        create_database(server, package)
    migrate({package: databases[service] for service, package in SERVICES.items()})

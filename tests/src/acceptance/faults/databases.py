"""Read-only eyes on the databases of the services, for what no API shows."""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString, Protocol

import psycopg
from psycopg.rows import dict_row

from contracts import routes
from contracts.routes import CONSUMED, PUBLISHED, sources_of

Row = dict[str, Any]

SOURCES = tuple(PUBLISHED)
"""The services that tell events."""
FOLLOWERS = {consumer: tuple(sources_of(consumer)) for consumer in CONSUMED}
"""Which services follow whose events through an inbox."""
SERVICES = tuple(service.context for service in routes.SERVICES)


class System(Protocol):
    """A running Traceline whose insides can be looked at."""

    @property
    def base_url(self) -> str:
        """Where its API answers."""

    def database_url(self, service: str) -> str:
        """The PostgreSQL URL of the database of `auth-service`, `catalog-service` and so on."""


def query(
    system: System, service: str, sql: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[Row]:
    """The rows of one SELECT."""
    with psycopg.connect(
        system.database_url(f"{service}-service"), row_factory=dict_row, connect_timeout=10
    ) as connection:
        connection.read_only = True
        return connection.execute(sql, parameters).fetchall()


def events_kept_back(system: System) -> list[tuple[str, str]]:
    """The events that a service could not apply, by name and error: nothing of it shows over the API."""
    statement: LiteralString = "SELECT wire_name, error FROM inbox_failures"
    return [(row["wire_name"], row["error"]) for service in SERVICES for row in query(system, service, statement)]


def value(system: System, service: str, sql: LiteralString, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
    """The one value of a SELECT of one row and one column; None when there is no row."""
    rows = query(system, service, sql, parameters)
    return next(iter(rows[0].values())) if rows else None

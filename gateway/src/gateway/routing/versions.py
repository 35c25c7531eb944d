"""Which service answers which address: a table for each version of the API, and what the services say of theirs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from functools import cached_property
from typing import NamedTuple

from contracts.routes import SERVICES, Service


@dataclass(frozen=True, slots=True)
class Deprecation:
    """When a version was deprecated, when it goes away, and where its users read about it."""

    since: datetime
    sunset: datetime
    link: str


@dataclass(frozen=True)
class Version:
    """One version of the API; `services` are by the first segment after the prefix."""

    prefix: str
    services: Mapping[str, Service]
    deprecation: Deprecation | None = None

    @cached_property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of every answer of this version (RFC 9745, RFC 8594)."""
        if self.deprecation is None:
            return []
        return [
            (b"deprecation", f"@{int(self.deprecation.since.timestamp())}".encode()),
            (b"sunset", format_datetime(self.deprecation.sunset, usegmt=True).encode()),
            (b"link", f'<{self.deprecation.link}>; rel="deprecation"; type="text/html"'.encode()),
        ]


class Address(NamedTuple):
    """An address of the API: its `path` behind the prefix, the first segment of that, and who answers it.

    What `Service` says of its addresses is asked here.
    """

    version: Version
    service: Service
    resource: str
    path: str

    def is_public(self, method: str) -> bool:
        """Check whether a request needs no token."""
        return (method, self.path) in self.service.public

    @property
    def is_stream(self) -> bool:
        """Whether the answers go on until somebody ends them."""
        return self.resource in self.service.streams

    @property
    def takes_file(self) -> bool:
        """Whether the body is a file."""
        return self.path in self.service.uploads


VERSIONS = (Version("/api/v1/", {resource: service for service in SERVICES for resource in service.resources}),)
VALUES = tuple(
    f"{version.prefix}{path}".encode() for version in VERSIONS for service in SERVICES for path in service.by_value
)
"""Beginnings of paths behind which stands a value, in which a percent-encoded slash or backslash is a character."""


def find(path: str) -> Address | None:
    """Return what the table knows of a path; None when nobody answers it."""
    for version in VERSIONS:
        if path.startswith(version.prefix):
            behind = path[len(version.prefix) :]
            resource = behind.partition("/")[0]
            service = version.services.get(resource)
            if service is not None:
                return Address(version, service, resource, behind)
    return None


def route_of(path: str) -> str | None:
    """Return the part of a path that the route table knows, `/api/v1/requirements`; None when there is none."""
    address = find(path)
    return None if address is None else address.version.prefix + address.resource


def is_unstored(path: str) -> bool:
    """Check whether no cache may store the answers at this path."""
    address = find(path)
    return address is not None and address.resource in address.service.unstored


def is_secret(path: str) -> bool:
    """Check whether the answers at this path may carry a secret, whose length would tell of it when compressed."""
    address = find(path)
    return address is not None and address.resource in address.service.secret

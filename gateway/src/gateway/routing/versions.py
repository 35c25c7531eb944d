"""Which service answers which address: a table for each version of the API, and what the services say of theirs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from functools import cached_property
from typing import NamedTuple

from chassis.core.projects import MAIN, NONE
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

    `project` is the key of the project that it is of, NONE where it is of none; `taken_off` is what stood between the
    prefix and the path to say so. What `Service` says of its addresses is asked here.
    """

    version: Version
    service: Service
    resource: str
    path: str
    project: str
    taken_off: str = ""

    def is_public(self, method: str) -> bool:
        """Check whether a request needs no token."""
        return (method, self.path) in self.service.public

    def writes(self, method: str) -> bool:
        """Check whether a request changes something of its project."""
        return (
            method not in _READING
            and self.resource not in self.service.of_person
            and (method, self.path) not in self.service.reading
        )

    def changes_access(self, method: str) -> bool:
        """Check whether a request of somebody who is known changes who may do what: projects, users, their tokens."""
        return self.resource in self.service.of_installation and method not in _READING and not self.is_public(method)

    def as_called(self, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        """Yield the headers of an answer; addresses in them name the project where the caller has done so."""
        plain = self.version.prefix.encode()
        called = plain + self.taken_off.encode()
        for name, value in headers:
            if name == b"location" and value.startswith(plain):
                yield name, called + value[len(plain) :]
            elif name == b"link":
                yield name, value.replace(b"<" + plain, b"<" + called)
            else:
                yield name, value

    @property
    def is_stream(self) -> bool:
        """Whether the answers go on until somebody ends them."""
        return self.resource in self.service.streams

    @property
    def is_watched(self) -> bool:
        """Whether the audit log has who is given answers of it."""
        return self.resource in self.service.watched

    @property
    def is_audit_log(self) -> bool:
        """Whether it is the audit log itself."""
        return self.resource == _AUDIT_LOG

    @property
    def takes_file(self) -> bool:
        """Whether the body is a file."""
        return self.path in self.service.uploads


_PROJECTS = "projects"
_AUDIT_LOG = "audit-log"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})

VERSIONS = (Version("/api/v1/", {resource: service for service in SERVICES for resource in service.resources}),)
VALUES = tuple(
    f"{version.prefix}{path}".encode() for version in VERSIONS for service in SERVICES for path in service.by_value
)
"""Beginnings of paths behind which stands a value, in which a percent-encoded slash or backslash is a character."""


def find(path: str) -> Address | None:
    """Return what the table knows of a path; None when nobody answers it."""
    for version in VERSIONS:
        if path.startswith(version.prefix):
            return _found(version, path[len(version.prefix) :])
    return None


def _found(version: Version, path: str) -> Address | None:
    resource, _, behind = path.partition("/")
    service = version.services.get(resource)
    if service is None:
        return None
    if resource == _PROJECTS:
        return _in_project(version, service, path, *behind.split("/", 1))
    if resource in service.of_installation or resource in service.of_person:
        return Address(version, service, resource, path, NONE)
    return Address(version, service, resource, path, MAIN)


def _in_project(version: Version, own: Service, whole: str, key: str, path: str = "") -> Address | None:
    """Return the address of a path behind a project's key; of `own`, who has the projects, where that is none."""
    resource = path.partition("/")[0]
    if not resource or resource in own.of_projects:
        return Address(version, own, _PROJECTS, whole, NONE)
    service = version.services.get(resource)
    if service is None or resource in service.of_installation:
        return None
    return Address(version, service, resource, path, key, whole[: len(whole) - len(path)])


def without_project(raw_path: bytes) -> tuple[bytes, bytes]:
    """Return what names a project in a path as it came, and the path without it."""
    for version in VERSIONS:
        beginning = f"{version.prefix}{_PROJECTS}/".encode()
        if raw_path.startswith(beginning):
            key, _, behind = raw_path[len(beginning) :].partition(b"/")
            if behind:
                return beginning + key + b"/", version.prefix.encode() + behind
    return b"", raw_path


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

"""Which service answers which address: a table for each version of the API, made from what the services publish."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime

from contracts.routes import SERVICES, Service


@dataclass(frozen=True, slots=True)
class Deprecation:
    """When a version was deprecated, when it goes away, and where its users read about it."""

    since: datetime
    sunset: datetime
    link: str


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the API.

    `services` maps the first segment after the prefix to a service; `public` are the (method, path) that
    need no token; `values` are beginnings of paths behind which stands a value, in which a percent-encoded slash
    or backslash is only a character; `unstored` are first segments of answers that no cache may store, `secret` of
    those that may carry a secret, `streams` of those that go on; `uploads` are the paths that take a file.
    """

    prefix: str
    services: dict[str, str]
    public: frozenset[tuple[str, str]]
    deprecation: Deprecation | None = None
    values: tuple[bytes, ...] = ()
    unstored: frozenset[str] = frozenset()
    streams: frozenset[str] = frozenset()
    secret: frozenset[str] = frozenset()
    uploads: frozenset[str] = frozenset()
    headers: list[tuple[bytes, bytes]] = field(init=False)

    def __post_init__(self) -> None:
        """Work out the headers of every answer of this version (RFC 9745, RFC 8594)."""
        headers = []
        if self.deprecation is not None:
            headers = [
                (b"deprecation", f"@{int(self.deprecation.since.timestamp())}".encode()),
                (b"sunset", format_datetime(self.deprecation.sunset, usegmt=True).encode()),
                (b"link", f'<{self.deprecation.link}>; rel="deprecation"; type="text/html"'.encode()),
            ]
        object.__setattr__(self, "headers", headers)

    def service_of(self, path: str) -> str | None:
        """Return the service that answers `path`, which begins with the prefix; None when there is none."""
        return self.services.get(path[len(self.prefix) :].partition("/")[0])

    def is_stream(self, path: str) -> bool:
        """Check whether the answers at `path`, which begins with the prefix, go on until somebody ends them."""
        return path[len(self.prefix) :].partition("/")[0] in self.streams


def _version(prefix: str, services: Sequence[Service]) -> Version:
    return Version(
        prefix=prefix,
        services={resource: service.name for service in services for resource in service.resources},
        public=frozenset((method, prefix + path) for service in services for method, path in service.public),
        values=tuple(f"{prefix}{path}".encode() for service in services for path in service.by_value),
        unstored=frozenset(resource for service in services for resource in service.unstored),
        streams=frozenset(resource for service in services for resource in service.streams),
        secret=frozenset(resource for service in services for resource in service.secret),
        uploads=frozenset(prefix + path for service in services for path in service.uploads),
    )


V1 = _version("/api/v1/", SERVICES)
VERSIONS = (V1,)


def route_of(path: str) -> str | None:
    """Return the part of a path that the route table knows, `/api/v1/requirements`; None when there is none."""
    for version in VERSIONS:
        if path.startswith(version.prefix) and version.service_of(path) is not None:
            return version.prefix + path[len(version.prefix) :].partition("/")[0]
    return None


def is_unstored(path: str) -> bool:
    """Check whether no cache may store the answers at this path."""
    for version in VERSIONS:
        if path.startswith(version.prefix):
            return path[len(version.prefix) :].partition("/")[0] in version.unstored
    return False


def is_secret(path: str) -> bool:
    """Check whether the answers at this path may carry a secret, whose length would tell of it when compressed."""
    for version in VERSIONS:
        if path.startswith(version.prefix):
            return path[len(version.prefix) :].partition("/")[0] in version.secret
    return False

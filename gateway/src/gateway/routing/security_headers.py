"""What keeps browsers from misusing an answer: sent with every one that does not decide for itself."""

from starlette.types import Scope

from chassis.web.edge import Headers
from gateway.routing.versions import is_unstored

_DEFAULTS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
)
_PRIVATE = (b"cache-control", b"private, no-cache")
"""No cache that several people share keeps an answer, and each one's own asks first, with If-None-Match."""
_UNSTORED = (b"cache-control", b"no-store")
"""Nor is an answer about people written to the disk of whoever asks."""
_HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")


class SecurityHeaders:
    """The headers of answers; `https`: the address that people use begins so, and browsers shall use no other."""

    def __init__(self, *, https: bool) -> None:
        common = (*_DEFAULTS, _HTTPS_ONLY) if https else _DEFAULTS
        self._private = (*common, _PRIVATE)
        self._unstored = (*common, _UNSTORED)
        self._names = frozenset(name for name, _ in self._private)

    def missing_in(self, headers: Headers, scope: Scope) -> Headers:
        """Return what the answer to `scope` with these `headers`, of lower-case names, has still to be sent with."""
        wanted = self._unstored if is_unstored(scope["path"]) else self._private
        present = [name for name, _ in headers if name in self._names]
        return [header for header in wanted if header[0] not in present] if present else wanted

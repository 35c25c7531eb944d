"""Which pages of other origins may call the API from a browser: those of a list, with a token and no cookie."""

from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import Scope

from chassis.web.edge import Headers

_METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE"
_SENT = (
    b"Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID,"
    b" MCP-Protocol-Version, Mcp-Method, Mcp-Name, Prefer, X-Request-ID"
)
_EXPOSED = b"Content-Disposition, ETag, Link, Location, Preference-Applied, Retry-After, Warning, X-Request-ID"
_MAX_AGE = b"600"
"""Seconds for which a browser may keep the answer to a preflight."""
_VARY = (b"vary", b"Origin")


class Cors:
    """The origins of CORS_ALLOWED_ORIGINS, none by default: then no answer speaks of origins."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._headers = {
            origin.encode(): [
                (b"access-control-allow-origin", origin.encode()),
                (b"access-control-expose-headers", _EXPOSED),
                _VARY,
            ]
            for origin in origins
        }

    def allows(self, origin: bytes) -> bool:
        """Check whether pages of an origin may call the API."""
        return origin in self._headers

    def preflight(self, scope: Scope) -> Response | None:
        """Return the answer to a browser that asks for a page of an allowed origin; None to everything else."""
        if not self._headers or scope["method"] != "OPTIONS":
            return None
        sent = dict(scope["headers"])
        if sent.get(b"origin") not in self._headers or b"access-control-request-method" not in sent:
            return None
        response = Response(status_code=204)
        response.raw_headers += [
            (b"access-control-allow-methods", _METHODS),
            (b"access-control-allow-headers", _SENT),
            (b"access-control-max-age", _MAX_AGE),
        ]
        return response

    def headers(self, scope: Scope) -> Headers:
        """Return what the answer to `scope` tells a browser of the page that asked."""
        if not self._headers:
            return ()
        origin = next((value for name, value in scope["headers"] if name == b"origin"), b"")
        return self._headers.get(origin, (_VARY,))

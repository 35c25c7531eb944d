"""What keeps browsers from misusing an answer: sent with every one that does not decide for itself."""

from chassis.http.edge import Headers

_DEFAULTS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"private, no-cache"),
)
"""No cache that several people share keeps an answer, and each one's own asks first, with If-None-Match."""


_NAMES = frozenset(name for name, _ in _DEFAULTS)


def missing_in(headers: Headers) -> Headers:
    """Give the headers that an answer with these `headers`, of lower-case names, has still to be sent with."""
    present = [name for name, _ in headers if name in _NAMES]
    return [header for header in _DEFAULTS if header[0] not in present] if present else _DEFAULTS

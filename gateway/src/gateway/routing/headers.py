"""Which headers reach a service: those of a list, once each, and what the gateway itself vouches for."""

from dataclasses import dataclass
from typing import Any

from chassis.core.problems import MalformedBody

_FORWARDED = frozenset(
    {
        b"accept",
        b"accept-language",
        b"content-length",
        b"content-type",
        b"idempotency-key",
        b"if-match",
        b"if-none-match",
        b"prefer",
        b"user-agent",
    }
)
_OWN = frozenset({b"authorization", b"host", b"x-request-id", b"transfer-encoding"})
_LISTS = frozenset({b"accept", b"accept-language", b"if-match", b"if-none-match", b"prefer"})


@dataclass(frozen=True, slots=True)
class Incoming:
    """The headers of a request, sorted into what is passed on and what the gateway reads itself."""

    forwarded: list[tuple[bytes, bytes]]
    authorization: bytes | None
    content_length: int | None


def read(raw: list[tuple[bytes, bytes]]) -> Incoming:
    """Read a request's headers; raise MalformedBody when one that has one value came twice.

    Unknown headers are dropped, and with them hop-by-hop ones and every twin that somebody could take for
    another (`X_User_Id` beside `X-User-Id`).
    """
    forwarded = []
    seen: dict[bytes, Any] = {}
    for name, value in raw:
        if name in _FORWARDED:
            forwarded.append((name, value))
        elif name not in _OWN:
            continue
        if name in seen and name not in _LISTS:
            raise MalformedBody(f"The header {name.decode()} came twice; send it once.", code="duplicate_header")
        seen[name] = value
    if b"host" not in seen:
        raise MalformedBody("The Host header is missing.", code="missing_host")
    length: bytes | None = seen.get(b"content-length")
    return Incoming(
        forwarded,
        seen.get(b"authorization"),
        int(length) if length is not None and length.isdigit() else None,
    )

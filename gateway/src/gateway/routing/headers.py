"""Which headers reach a service: those of a list, once each, and what the gateway itself vouches for."""

from dataclasses import dataclass

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
        b"last-event-id",
        b"prefer",
        b"user-agent",
    }
)
_OWN = frozenset(
    {
        b"accept-encoding",
        b"authorization",
        b"cookie",
        b"host",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"origin",
        b"sec-fetch-site",
        b"transfer-encoding",
        b"x-request-id",
    }
)
_LISTS = frozenset({b"accept", b"accept-encoding", b"accept-language", b"if-match", b"if-none-match", b"prefer"})


@dataclass(frozen=True, slots=True)
class Incoming:
    """The headers of a request: `forwarded` is what is passed on, `sent` what the gateway reads itself, by name."""

    forwarded: list[tuple[bytes, bytes]]
    sent: dict[bytes, bytes]
    content_length: int | None

    @property
    def has_body(self) -> bool:
        """Check whether a body comes with the request."""
        return bool(self.content_length) or b"transfer-encoding" in self.sent


def read(raw: list[tuple[bytes, bytes]]) -> Incoming:
    """Read a request's headers; raise MalformedBody when one that has one value came twice.

    Unknown headers are dropped, and with them hop-by-hop ones and every twin that somebody could take for
    another (`X_User_Id` beside `X-User-Id`).
    """
    forwarded = []
    seen: dict[bytes, bytes] = {}
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
    length = seen.get(b"content-length")
    return Incoming(
        forwarded,
        seen,
        int(length) if length is not None and length.isdigit() else None,
    )

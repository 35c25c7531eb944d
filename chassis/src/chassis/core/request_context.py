"""Who and what the running code works for: carried into log lines, and the request's id into events."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request, or of the one that caused the event, that is being worked on."""

gateway_request_id: ContextVar[str] = ContextVar("gateway_request_id", default="")
"""The id that the gateway gave the request, which no caller can choose; none for what no request asks for."""

actor_id: ContextVar[int | None] = ContextVar("actor_id", default=None)
"""The id of the user who asked for it; None when it is no user, or not known yet."""

event_id: ContextVar[str] = ContextVar("event_id", default="")
"""The id of the event that is being applied, the first when several are applied together."""

HEADER = b"x-request-id"
GATEWAY_HEADER = b"x-gateway-request-id"
PATH_HEADER = b"x-called-path"
"""The path as the caller wrote it, from the gateway, where it is not the one that the service answers."""
CALLED_PATH = "traceline.called_path"
"""The member of an ASGI scope that has the same."""
_SANE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


@contextmanager
def of_event(event: str, *, request: str, gateway_request: str, actor: int | None) -> Iterator[None]:
    """Work on an event within, for the request that caused it, by both its ids, and the user who sent that."""
    tokens = event_id.set(event), request_id.set(request), actor_id.set(actor)
    of_gateway = gateway_request_id.set(gateway_request)
    try:
        yield
    finally:
        event_id.reset(tokens[0])
        request_id.reset(tokens[1])
        actor_id.reset(tokens[2])
        gateway_request_id.reset(of_gateway)


def accepted(sent: bytes | None) -> str | None:
    """Return a caller's request id if it is a sane token (1 to 128 of A-Z a-z 0-9 . _ : -)."""
    return sent.decode("ascii") if sent is not None and _SANE.fullmatch(sent) else None


def made() -> str:
    """Return a new request id."""
    # Not a secret, and made for every request: the system's randomness costs ten times as much.
    return f"{random.getrandbits(128):032x}"

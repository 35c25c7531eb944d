"""Who and what the running code works for: carried into log lines, and the request's id into events."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request, or of the one that caused the event, that is being worked on."""

actor_id: ContextVar[int | None] = ContextVar("actor_id", default=None)
"""The id of the user who asked for it; None when it is no user, or nobody knows yet."""

event_id: ContextVar[str] = ContextVar("event_id", default="")
"""The id of the event that is being applied, the first when several are applied together."""

HEADER = b"x-request-id"
_SANE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


@contextmanager
def of_event(event: str, *, request: str, actor: int | None) -> Iterator[None]:
    """Work on an event within, for the request that caused it and the user who sent that."""
    tokens = event_id.set(event), request_id.set(request), actor_id.set(actor)
    try:
        yield
    finally:
        event_id.reset(tokens[0])
        request_id.reset(tokens[1])
        actor_id.reset(tokens[2])


def accept_or_make(sent: bytes | None) -> str:
    """Take a caller's request id if it is a sane token (1 to 128 of A-Z a-z 0-9 . _ : -), else make one."""
    if sent is not None and _SANE.fullmatch(sent):
        return sent.decode("ascii")
    # Not a secret, and made for every request: the system's randomness costs ten times as much.
    return f"{random.getrandbits(128):032x}"

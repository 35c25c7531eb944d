"""Who and what the running code works for: the request's id, carried into log lines and events."""

import random
import re
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the request, or of the one that caused the event, that is being worked on."""

HEADER = b"x-request-id"
_SANE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")


def accept_or_make(sent: bytes | None) -> str:
    """Take a caller's request id if it is a sane token (1 to 128 of A-Z a-z 0-9 . _ : -), else make one."""
    if sent is not None and _SANE.fullmatch(sent):
        return sent.decode("ascii")
    # Not a secret, and made for every request: the system's randomness costs ten times as much.
    return f"{random.getrandbits(128):032x}"

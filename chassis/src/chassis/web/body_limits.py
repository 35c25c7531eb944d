"""How long the body of a request may be, counted as it comes: nothing of it is held."""

from starlette.requests import Request
from starlette.types import Message, Receive

from chassis.core.problems import TooLarge

_MIB = 1024 * 1024
MAX_FILE = 64 * _MIB


def bounded(receive: Receive, most: int, announced: int | None, advice: str = "send less at once") -> Receive:
    """Return a `receive` that raises TooLarge beyond `most` bytes; raise it at once when more are announced.

    `announced` is the Content-Length, None where there is none; `advice` says what the caller can do instead.
    """
    if announced is not None and announced > most:
        raise _too_large(most, advice)
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise _too_large(most, advice)
        return message

    return receive_bounded


def bounded_file(receive: Receive, announced: int | None) -> Receive:
    """Return the `receive` of an address that takes a file: see `bounded`."""
    return bounded(receive, MAX_FILE, announced, "split the file and send one part after the other")


def with_file(request: Request) -> Request:
    """Return a request whose body is a file, to be read by `stream()`; raise TooLarge as `bounded` does."""
    length = request.headers.get("content-length", "")
    return Request(request.scope, bounded_file(request.receive, int(length) if length.isdigit() else None))


def _too_large(most: int, advice: str) -> TooLarge:
    size = f"{most // _MIB} MiB" if most % _MIB == 0 else f"{most} bytes"
    return TooLarge(f"The body is larger than the {size} that this address takes; {advice}.")

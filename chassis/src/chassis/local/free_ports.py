"""Free ports of the loopback address, for programs that are started again on the ones they had."""

import secrets
import socket
from collections.abc import Iterator

_PORTS = range(20_000, 32_000)
"""Below those that the system gives to connections, so that none of them is taken by chance: a client that knocks
where nothing listens would meet itself."""


def _from_a_random_one() -> Iterator[int]:
    first = secrets.randbelow(len(_PORTS))
    while True:
        yield from _PORTS[first:]
        yield from _PORTS[:first]


# One after the other, from a place of each process' own: on those that were given before nothing may listen yet, and
# two systems that start at the same moment hardly ever meet.
_untried = _from_a_random_one()


def free_port(wanted: int | None, taken: set[int]) -> int:
    """Return `wanted` if it is not in `taken` and nothing listens there, else another; the port is added to `taken`."""
    port = wanted or next(_untried)
    while port in taken or not _is_free(port):
        port = next(_untried)
    taken.add(port)
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

"""Free ports of the loopback address, for programs that are started again on the ones they had."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack

_PORTS = range(20_000, 32_000)
"""Below those that the system gives to connections, so that none of them is taken by chance: a client that knocks
where nothing listens would meet itself."""
_BLOCK = 50
"""Ports that one process reserves at a time. It binds the first and never listens there: until the process ends, all
others see by this that the block is reserved, though some seconds pass until its programs listen."""

_reserved: dict[int, socket.socket] = {}
"""What is bound to the first port of each block of this process."""


def free_port(wanted: int | None, taken: set[int]) -> int:
    """Return `wanted` if it is not in `taken`, free, and reserved by no other process, else another.

    The port is added to `taken`.
    """
    port = wanted if wanted is not None and _is_ours(wanted) else next(_untried)
    while port in taken or not _is_free(port):
        port = next(_untried)
    taken.add(port)
    return port


def _in_reserved_blocks() -> Iterator[int]:
    """Yield one port after the other, from a block of a random place: those given before may not be listened on yet."""
    firsts = _PORTS[::_BLOCK]
    while True:
        somewhere = secrets.randbelow(len(firsts))
        for first in (*firsts[somewhere:], *firsts[:somewhere]):
            if first not in _reserved and _reserve(first):
                yield from range(first + 1, first + _BLOCK)
        for first in list(_reserved):  # others have all the rest
            yield from range(first + 1, first + _BLOCK)


_untried = _in_reserved_blocks()


def _is_ours(port: int) -> bool:
    if port not in _PORTS:
        return True
    first = port - (port - _PORTS.start) % _BLOCK
    return first in _reserved or _reserve(first)


def _reserve(first: int) -> bool:
    with ExitStack() as unless_it_is_ours:
        guard = unless_it_is_ours.enter_context(socket.socket())
        try:
            guard.bind(("127.0.0.1", first))
        except OSError:
            return False
        unless_it_is_ours.pop_all()
    _reserved[first] = guard
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

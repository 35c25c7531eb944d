"""The HTTP server of every program: uvicorn, which ends without failing a request."""

import asyncio
import gc
import logging
import resource
import select
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from ipaddress import ip_address
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from chassis.core.signals import wait_with_timeout
from chassis.core.start_failure import StartFailure
from chassis.server.protocol import Protocol
from chassis.web.event_stream import STOPPING

_log = logging.getLogger(__name__)
_GC_THRESHOLDS = (1_000, 50, 50)
_SWITCH_INTERVAL = 0.0002
_BACKLOG = 2048
_MOST_CONNECTIONS = 10_000
DRAIN = 2
"""Seconds in which clients may use their connections to a program that ends once more, and are asked to close them."""
_QUEUED_SECONDS = 1
"""For accepting what is queued when a program ends, however much goes on coming."""
_LOOK_AGAIN = 0.05


class Server(uvicorn.Server):
    """Serves until it is stopped, then answers what is under way.

    `drain`: seconds in which clients may use their open connections once more, and are told to close them; only
    then are idle ones closed. `grace`: seconds that requests under way have to end after that.
    `trusted_proxies`: whose X-Forwarded-For says who calls: addresses and networks, with commas between.
    `tls`: what it shows to clients; without, it answers plain http.
    Answers that go on (`chassis.web.event_stream`) end when the server begins to.
    A client that keeps it waiting is closed; see `chassis.server.protocol` for how long it may. Of the files that
    the process may have open, half are for connections, 10,000 at most; beyond those a new one is closed at once.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        grace: float,
        drain: float = 0,
        trusted_proxies: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._most_connections = _allow_connections()
        protocol = partial(Protocol, most_connections=self._most_connections)
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(type[Protocol], protocol),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                log_level="error",  # its warning of each malformed request would let anybody fill the disk
                server_header=False,
                proxy_headers=bool(trusted_proxies),
                forwarded_allow_ips=trusted_proxies,
                backlog=_BACKLOG,
                timeout_graceful_shutdown=int(grace),
                ssl_context_factory=None if tls is None else lambda *_: tls,
            )
        )
        self._drain = drain
        self._stopping = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the program: uvicorn would raise them again before its databases are closed."""
        yield

    def stop_on_signals(self) -> None:
        """Stop gracefully at the first SIGINT or SIGTERM, at once at the second."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, self.stop)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve; each request can see when the end begins."""
        self.lifespan.state[STOPPING] = self._stopping
        await super().startup(sockets)

    async def main_loop(self) -> None:
        """Do what is to be done each second until the end. uvicorn's own loop looks ten times a second."""
        clock = asyncio.get_running_loop()
        while not await self.on_tick(0):
            self._check_connections(clock.time())
            await wait_with_timeout(self._stopping, 1.0)

    def _check_connections(self, now: float) -> None:
        connections = self.server_state.connections
        if len(connections) >= self._most_connections:
            _log.warning("%d connections are open, as many as there may be; new ones are closed", len(connections))
        for connection in list(connections):
            cast(Protocol, connection).check(now)

    def stop(self) -> None:
        """Begin to end."""
        self._stopping.set()
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connections, see those that are there through, and end."""
        # Of the servers, not of the protocols: those know a connection once its TLS is agreed upon.
        left = [asyncio.create_task(server.wait_closed()) for server in self.servers]
        # The list itself: a request under way has it already.
        self.server_state.default_headers.append((b"connection", b"close"))
        await self._take_queued()
        for server in self.servers:
            server.close()
        clock = asyncio.get_running_loop()
        end = clock.time() + self._drain
        while not all(ended.done() for ended in left) and clock.time() < end and not self.force_exit:
            await asyncio.wait(left, timeout=_LOOK_AGAIN)
        for ended in left:
            ended.cancel()
        abandoning = asyncio.create_task(self._abandon_closed())
        await super().shutdown(sockets)
        abandoning.cancel()

    async def _abandon_closed(self) -> None:
        """Drop what is closed here and all taken: TLS would wait for a client that does not look to close it, too."""
        while True:
            for connection in list(self.server_state.connections):
                cast(Protocol, connection).abandon_if_closed()
            await asyncio.sleep(_LOOK_AGAIN)

    async def _take_queued(self) -> None:
        """Let the event loop accept what waits in the kernel: that is reset when the listener is closed."""
        queued = select.poll()
        for server in self.servers:
            for listener in server.sockets:
                queued.register(listener.fileno(), select.POLLIN)
        clock = asyncio.get_running_loop()
        end = clock.time() + _QUEUED_SECONDS
        quiet = 0
        # Twice, since what was just accepted takes another turn of the loop to be a connection.
        while quiet < 2 and clock.time() < end and not self.force_exit:
            await asyncio.sleep(0)
            quiet = 0 if queued.poll(0) else quiet + 1


def _allow_connections() -> int:
    """Let the process open as many files as it may and needs; return how many connections that allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * _MOST_CONNECTIONS
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _MOST_CONNECTIONS
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most // 2


def settle() -> None:
    """Tune the interpreter for serving; to be called once when everything is loaded."""
    # What is there now stays: the collector need not walk through it again, which takes 100 ms.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    # Scoring runs in threads: a request that awaits twenty times would wait 5 ms for its turn each time.
    sys.setswitchinterval(_SWITCH_INTERVAL)


def is_loopback(host: str) -> bool:
    """Check whether what listens on `host` is reached from this machine alone."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(ip_address(str(address[0]).partition("%")[0]).is_loopback for *_, address in found)


def listen(host: str, port: int, what_to_set: str) -> socket.socket:
    """Return a listening socket; raise StartFailure, which names the settings `what_to_set`, when that cannot be."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as unless_it_listens:
            listener = unless_it_listens.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
            unless_it_listens.pop_all()
    except OSError as error:
        raise StartFailure(
            f"Traceline cannot listen on {host} port {port} ({error.strerror}); stop what listens there or set"
            f" {what_to_set} to another address."
        ) from None
    return listener

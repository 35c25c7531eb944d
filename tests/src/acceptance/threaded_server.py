"""A small HTTP server of this process, for what a test has to stand in the way of, or to listen to."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self


class Quiet:
    """A handler that tells nobody of requests."""

    def log_message(self, *_: Any) -> None:
        """Say nothing of a request."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Let a client go that does not wait."""


class ThreadedServer:
    """Listens on a free port of the loopback address inside the block, a thread a connection.

    `waits`: the end of the block waits for requests under way.
    """

    def __init__(self, handler: type[BaseHTTPRequestHandler], *, waits: bool = False) -> None:
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = not waits
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._let_go()
        self._server.server_close()

    def _let_go(self) -> None:
        """End what requests under way wait for."""

"""A server on this machine that attacks want to reach: it serves them, and keeps what came."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

_SERVED = {
    "/attack": ("text/html", b"<!DOCTYPE html><title>attack</title><p>nothing to see</p>"),
    "/run.js": ("text/javascript", b"alert(1)"),
    "/style.css": ("text/css", b"body { color: red }"),
}


class Trap:
    """Listens inside the block."""

    def __init__(self) -> None:
        self.came: list[str] = []
        """The paths that were asked for, since somebody looked."""
        came = self.came

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != "/attack":  # a page that somebody opens, for an attack to begin there
                    came.append(self.path)
                kind, body = _SERVED.get(self.path, ("text/plain", b"caught"))
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                """Tell nobody."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def caught(self) -> list[str]:
        """Return what came, and forget it."""
        caught = self.came[:]
        self.came.clear()
        return caught

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

"""A server on this machine that attacks want to reach: it serves them, and keeps what came."""

from http.server import BaseHTTPRequestHandler

from acceptance.threaded_server import Quiet, ThreadedServer

_SERVED = {
    "/attack": ("text/html", b"<!DOCTYPE html><title>attack</title><p>nothing to see</p>"),
    "/run.js": ("text/javascript", b"alert(1)"),
    "/style.css": ("text/css", b"body { color: red }"),
}


class Trap(ThreadedServer):
    """Listens inside the block."""

    def __init__(self) -> None:
        self.came: list[str] = []
        """The paths that were asked for, since somebody looked."""
        came = self.came

        class Handler(Quiet, BaseHTTPRequestHandler):
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

        super().__init__(Handler)

    def caught(self) -> list[str]:
        """Return what came, and forget it."""
        caught = self.came[:]
        self.came.clear()
        return caught

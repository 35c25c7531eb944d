"""A way to a Traceline that is slow, and on which some reviews fail: before they arrive, or after, on the way back."""

import http.client
import time
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler
from itertools import count
from socket import SHUT_RDWR, socket
from threading import Event

from acceptance.threaded_server import Quiet, ThreadedServer

_REVIEWS = ("/accept", "/reject", "/reopen")
_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive"}
_BUSY = (
    b'{"type":"about:blank","title":"Service Unavailable","status":503,"code":"unavailable","detail":"Try it later."}'
)


class SlowServer(ThreadedServer):
    """Passes on to the server at `base_url`, inside the block, what it is asked.

    Each review takes `seconds`, and waits while `is_open` is not set. Every tenth fails, by turns: it is answered 503,
    or the connection ends before the server has it, or after that without an answer.
    """

    def __init__(self, base_url: str, seconds: float, *, fails: bool = True) -> None:
        self.reviews = 0
        """How many have come."""
        self.is_open = Event()
        self.is_open.set()
        numbers, slow = count(1), self
        address = base_url.removeprefix("http://")
        streams = self._streams = set[socket]()

        class Handler(Quiet, BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._pass_on()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if not self.path.endswith(_REVIEWS):
                    self._pass_on(body)
                    return
                slow.reviews += 1
                number = next(numbers)
                time.sleep(seconds)
                slow.is_open.wait()
                failure = number // 10 % 3 if fails and number % 10 == 0 else None
                if failure == 0:
                    self._answer(503, [("Content-Type", "application/problem+json")], _BUSY)
                elif failure == 1:
                    self._hang_up()
                else:
                    self._pass_on(body, is_lost=failure == 2)

            def _pass_on(self, body: bytes = b"", *, is_lost: bool = False) -> None:
                headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
                with closing(http.client.HTTPConnection(address, timeout=60)) as connection:
                    connection.request(self.command, self.path, body, headers)
                    way = connection.sock
                    with closing(connection.getresponse()) as answer:
                        if is_lost:
                            answer.read()
                            self._hang_up()
                        elif answer.headers.get_content_type() == "text/event-stream":
                            streams.add(way)
                            self._stream(answer)
                        else:
                            self._answer(answer.status, answer.getheaders(), answer.read())

            def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in _HOP_BY_HOP | {"content-length"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _stream(self, answer: http.client.HTTPResponse) -> None:
                self.send_response_only(answer.status)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                while part := answer.read1():
                    self.wfile.write(part)
                    self.wfile.flush()
                self.close_connection = True

            def _hang_up(self) -> None:
                self.close_connection = True

        super().__init__(Handler, waits=True)

    def _let_go(self) -> None:
        for way in self._streams:
            with suppress(OSError):  # where it has ended
                way.shutdown(SHUT_RDWR)

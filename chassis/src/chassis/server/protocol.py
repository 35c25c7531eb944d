"""uvicorn's HTTP protocol with what an open port needs: limits, deadlines, and refusals shaped like all errors."""

import asyncio
from array import array
from contextlib import suppress
from enum import Enum, auto
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import Any, cast

import httptools
from prometheus_client import Counter
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from chassis.core.problems import HeadersTooLarge, MalformedBody, Problem, RequestTimedOut, UriTooLong
from chassis.web.answers import Answers, refusal

HEAD_SECONDS = 10.0
"""From the first byte of a request, or from connecting, to the end of its headers."""
BODY_SECONDS = 10.0
"""For a body, and a second more for each _SLOWEST bytes that have come."""
UNREAD_SECONDS = 30.0
"""For a client that takes nothing of its answer, and a second more for each _SLOWEST bytes that it has taken."""
LINGER_SECONDS = 3.0
"""For reading on after a last answer: to close earlier could take the answer away from a client that still sends."""
_REST = 0.002
"""Seconds between two parts of a body that nobody reads: to take it as fast as it comes costs others their time."""
_SLOWEST = 4096
_MAX_HEAD = 128 * 1024
"""Bytes, with the address."""
_MAX_URI = 32 * 1024
"""Bytes; the parser of addresses counts them in 16 bits."""
_MAX_HEADER = 32 * 1024
"""Bytes of its name and its value."""
_MAX_HEADERS = 200
_LONGEST_SHOWN = 100
_MAX_PIPELINED = 100
"""Requests that came before the answer to an earlier one; those beyond are not answered."""
_TOO_MANY = f"The headers are more than {_MAX_HEADERS}, or longer than {_MAX_HEAD} bytes; send fewer."

_REFUSALS = Counter("traceline_http_refusals_total", "Requests that were refused before they were whole.", ("status",))
for _kind in (MalformedBody, RequestTimedOut, UriTooLong, HeadersTooLarge):
    _REFUSALS.labels(str(_kind.status))  # there from the start, so that the first one shows as a rise


class _Awaited(Enum):
    """What the client is to send next."""

    REQUEST = auto()
    HEAD = auto()
    BODY = auto()


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol on httptools; `check` is to be called about once a second."""

    def __init__(self, *settings: Any, most_connections: int, **more: Any) -> None:
        """`most_connections`: beyond so many, a new one is closed at once."""
        super().__init__(*settings, **more)
        self._most_connections = most_connections
        self._awaited = _Awaited.REQUEST
        self._since = self.loop.time()
        """When the client was to begin, or began, with what is awaited."""
        self._unparsed = 0
        """Bytes that have come since something was whole: the head, a part of the body, the request."""
        self._body_size = 0
        self._problem: Problem | None = None
        """What is wrong with the headers, from where the parser calls to where it ends."""
        self._stuck_since: float | None = None
        self._untaken = 0
        """Bytes of answers that lay here at the last look, and that the client had not taken."""
        self._is_deaf = False
        """Nothing more that the client says counts."""
        self._is_ending = False
        self._is_resting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection."""
        self._socket = cast(asyncio.Transport, transport)
        self._answers = Answers(self._socket, self._close)
        super().connection_made(cast(asyncio.Transport, self._answers))
        if len(self.connections) > self._most_connections:
            self._socket.abort()

    def check(self, now: float) -> None:
        """End the connection when its client lets it wait for too long; `now` is the event loop's time."""
        if self.transport.is_closing() or self.flow.write_paused:
            untaken = _untaken(self._socket)
            if self._stuck_since is None:
                self._stuck_since = now
            elif untaken < self._untaken:
                self._stuck_since = min(now, self._stuck_since + (self._untaken - untaken) / _SLOWEST)
            if now - self._stuck_since > UNREAD_SECONDS:
                self.transport.abort()
            self._untaken = untaken
            return
        self._stuck_since = None
        if self.flow.read_paused and not self._is_resting:
            self._since = now  # nothing resumes it
        if self._is_deaf:
            return
        waited = now - self._since
        is_answered = self.cycle is None or self.cycle.response_complete
        if self._awaited is _Awaited.HEAD:
            if waited > HEAD_SECONDS:
                self._refuse(RequestTimedOut("The headers of this request did not come in time; send it again."))
        elif self._awaited is _Awaited.REQUEST:
            if is_answered and waited > HEAD_SECONDS:
                self.transport.close()
        elif is_answered:
            if waited > LINGER_SECONDS:
                self._end()
        elif waited > BODY_SECONDS + self._body_size / _SLOWEST:
            self._refuse(RequestTimedOut("The body of this request did not come in time; send it again."))

    def abandon_if_closed(self) -> None:
        """Drop a connection that is closed, and of which the client has taken everything."""
        if self._socket.is_closing() and not _untaken(self._socket):
            self._socket.abort()

    # What the event loop and the parser call.

    def resume_writing(self) -> None:
        """Go on with an answer: there is room again for more of it."""
        self._stuck_since = None
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Take the next bytes."""
        if self._is_deaf or (self._awaited is _Awaited.BODY and self.cycle.response_complete):
            self._rest()
        if self._is_deaf:
            return
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > _MAX_URI and not self._is_deaf:
            self._check_sizes()

    def on_message_begin(self) -> None:
        """Begin with a request."""
        self._awaited = _Awaited.HEAD
        self._since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Have the request answered."""
        self._problem = self._what_is_wrong()
        is_spoken_here = self.parser.get_http_version() in ("1.0", "1.1")
        if self._problem is not None or not is_spoken_here or len(self.pipeline) > _MAX_PIPELINED:
            raise httptools.HttpParserError
        super().on_headers_complete()
        self.headers = []  # trailers are no headers
        self._awaited = _Awaited.BODY
        self._since = self.loop.time()
        self._unparsed = self._body_size = 0

    def on_body(self, body: bytes) -> None:
        """Take the next part of the body."""
        self._unparsed = 0
        self._body_size += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the request is whole."""
        self._awaited = _Awaited.REQUEST
        self._unparsed = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        self._answers.flush()
        self._since = self.loop.time()
        if self._is_ending:
            return
        if self._is_deaf and not self.pipeline:
            self._end()
        else:
            super().on_response_complete()

    def _unsupported_upgrade_warning(self) -> None:
        # The parser has skipped what came behind such a request: what follows could be anything.
        self.cycle.keep_alive = False
        self._is_deaf = True

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser does not take."""
        problem = self._problem or MalformedBody(
            "This is no valid HTTP/1.1 request; the connection is closed.", code="malformed_request"
        )
        self._refuse(problem)

    def _rest(self) -> None:
        """Read nothing for a moment."""
        if not self.flow.read_paused:
            self._is_resting = True
            self.flow.pause_reading()
            self.loop.call_later(_REST, self._go_on)

    def _go_on(self) -> None:
        self._is_resting = False
        if not self._socket.is_closing():
            self.flow.resume_reading()

    def _check_sizes(self) -> None:
        problem = self._what_is_wrong() if self._awaited is _Awaited.HEAD else None
        if problem is None and self._unparsed > _MAX_HEAD:
            problem = HeadersTooLarge(_TOO_MANY)
        if problem is not None:
            self._refuse(problem)

    def _what_is_wrong(self) -> Problem | None:
        if len(self.url) > _MAX_URI:
            return UriTooLong(f"The address is longer than {_MAX_URI} bytes; ask for less at once.")
        if len(self.headers) > _MAX_HEADERS:
            return HeadersTooLarge(_TOO_MANY)
        whole = len(self.url)
        for name, value in self.headers:
            size = len(name) + len(value)
            if size > _MAX_HEADER:
                shown = name[:_LONGEST_SHOWN].decode("ascii", "replace")
                return HeadersTooLarge(f"The header {shown} is longer than {_MAX_HEADER} bytes; send a shorter one.")
            whole += size
        return HeadersTooLarge(_TOO_MANY) if whole > _MAX_HEAD else None

    # How it ends.

    def _refuse(self, problem: Problem) -> None:
        """Answer what cannot be served or waited for, after what was asked before it, and end the connection."""
        self._is_deaf = True
        if self._awaited is _Awaited.BODY:
            if self.pipeline:
                self.pipeline.popleft()  # the newest, whose turn has not come
                return
            if self.cycle.response_started:
                if self.cycle.response_complete:
                    self._end()
                else:
                    self.transport.abort()
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        elif self.cycle is not None and not self.cycle.response_complete:
            return
        self._answers.write(refusal(problem))
        _REFUSALS.labels(str(problem.status)).inc()
        self._end()

    def _close(self) -> None:
        if self._awaited is _Awaited.BODY and not self._is_ending:
            self._end()
        else:
            self._socket.close()

    def _end(self) -> None:
        """Say that nothing more comes, and close when the client has, or soon.

        Closed with something unread, the connection would be reset, and the client might not see its answer.
        """
        self._is_deaf = self._is_ending = True
        self._answers.flush()
        self.flow.resume_reading()
        if not self._socket.can_write_eof():  # TLS
            self._socket.close()
        elif not self._socket.is_closing():
            self._socket.write_eof()
            self.loop.call_later(LINGER_SECONDS, self._socket.abort)


def _untaken(transport: asyncio.Transport) -> int:
    """Return how many bytes of what was written the client's side has not taken yet.

    They lie in our buffer and in the kernel's, which can be many seconds of a slow client's time: that ours does not
    get shorter says little.
    """
    in_kernel = array("i", [0])
    connected = transport.get_extra_info("socket")
    if connected is not None:  # over TLS it is gone a little before the connection is
        with suppress(OSError):  # where a system has no such count, ours alone has to do
            ioctl(connected.fileno(), TIOCOUTQ, in_kernel)
    return transport.get_write_buffer_size() + in_kernel[0]

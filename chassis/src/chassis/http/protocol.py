"""uvicorn's HTTP protocol, with refusals that have the shape of all errors, and one write for a small answer."""

import asyncio
import uuid
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from chassis import request_context
from chassis.http.responses import encode
from chassis.problems import MEDIA_TYPE, MalformedBody, document

_CONTINUE = b"HTTP/1.1 100 "


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol on httptools."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection."""
        self._answers = _Answers(cast(asyncio.Transport, transport))
        super().connection_made(cast(asyncio.Transport, self._answers))

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        self._answers.flush()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP request, and close the connection."""
        request_id = uuid.uuid4().hex
        token = request_context.request_id.set(request_id)
        try:
            problem = MalformedBody(
                "This is no valid HTTP/1.1 request; the connection is closed.", code="malformed_request"
            )
            body = encode(document(problem, ""))
        finally:
            request_context.request_id.reset(token)
        head = (
            f"HTTP/1.1 400 Bad Request\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
            f"x-request-id: {request_id}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


class _Answers:
    """A transport that keeps an answer's head back until its body begins: the head alone costs a call of the system."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head: bytes | None = b""
        """What is kept back; None when the head of the present answer is sent."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._head is None or data.startswith(_CONTINUE):
            self._transport.write(data)
        elif not self._head:
            self._head = data
        else:
            self._transport.write(self._head + data)
            self._head = None

    def flush(self) -> None:
        """Send what is kept back: the answer is whole."""
        if self._head:
            self._transport.write(self._head)
        self._head = b""

    def close(self) -> None:
        self.flush()
        self._transport.close()

"""What a server writes to a connection: an answer's head goes out with the first bytes of its body."""

import asyncio
import uuid
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from chassis.core import request_context
from chassis.core.problems import MEDIA_TYPE, Problem, document
from chassis.web.responses import encode

_CONTINUE = b"HTTP/1.1 100 "


class Answers:
    """A transport that keeps an answer's head back until its body begins: the head alone costs a call of the system."""

    def __init__(self, transport: asyncio.Transport, on_close: Callable[[], None]) -> None:
        """`on_close` is called instead of the transport's own `close`, with everything sent."""
        self._transport = transport
        self._on_close = on_close
        self._head: bytes | None = b""
        """What is held back; None when the head of the present answer is sent."""

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
        """Send what is held back: the answer is whole."""
        if self._head:
            self._transport.write(self._head)
        self._head = b""

    def close(self) -> None:
        self.flush()
        self._on_close()


def refusal(problem: Problem) -> bytes:
    """Return the whole answer to what never became a request that an app could answer."""
    request_id = uuid.uuid4().hex
    token = request_context.request_id.set(request_id)
    try:
        body = encode(document(problem, ""))
    finally:
        request_context.request_id.reset(token)
    head = (
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
        f"content-length: {len(body)}\r\nx-request-id: {request_id}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body

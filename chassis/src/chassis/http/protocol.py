"""The HTTP parser's own refusals as problem documents: every error has one shape."""

import uuid

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from chassis import request_context
from chassis.http.responses import encode
from chassis.problems import MEDIA_TYPE, MalformedBody, document


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol on httptools, for what is not HTTP at all."""

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

"""HEAD: the answer to GET without its body."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.types import Message, Receive, Scope, Send

_Answer = Callable[[Scope, Receive, Send], Awaitable[None]]


class _Enough(Exception):
    """The rest of the body is not wanted."""


async def of_get(answer: _Answer, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer HEAD with the headers that `answer` gives GET, and end it where its body begins to be long."""
    is_over = False

    async def send_head(message: Message) -> None:
        nonlocal is_over
        if is_over:
            raise _Enough
        if message["type"] == "http.response.body":
            is_over = True
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    with suppress(_Enough):
        await answer({**scope, "method": "GET"}, receive, send_head)

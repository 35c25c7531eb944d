"""The caller of one request to a service: what they still send, and whether they still wait."""

import asyncio
from contextlib import suppress

from starlette.types import Receive

from chassis.core.problems import TooLarge
from gateway.upstream.connection import Connection

_WATCH_AFTER = 0.5
"""Seconds after which it is time to look whether a caller still waits."""


class Caller:
    """The one who waits for the answer: when they go away, the connection to the service is dropped."""

    def __init__(self, receive: Receive, connection: Connection) -> None:
        self.is_gone = False
        self._receive = receive
        self._connection = connection
        self._timer: asyncio.TimerHandle | None = None
        self._watching: asyncio.Task[None] | None = None

    async def pass_on_body(self) -> None:
        """Send the rest of their request's body, unless the service answers before its end."""
        more = True
        while more and not self._connection.status:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return self._leave()
            more = message.get("more_body", False)
            part = chunk(message.get("body", b""))
            self._connection.write(part if more else part + b"0\r\n\r\n", is_last=not more)
            await self._connection.drain()
        return None

    def watch(self) -> None:
        """Look whether they still wait, but not at once: most requests are over before they could go away."""
        self._timer = asyncio.get_running_loop().call_later(_WATCH_AFTER, self._begin)

    def let_go(self) -> None:
        """Look no longer."""
        if self._timer is not None:
            self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()

    def _begin(self) -> None:
        self._watching = asyncio.create_task(self._wait_until_gone())

    async def _wait_until_gone(self) -> None:
        # More of a body that the service did not want may come first, and be too long.
        with suppress(TooLarge):
            while (await self._receive())["type"] != "http.disconnect":
                pass
            self._leave()

    def _leave(self) -> None:
        self.is_gone = True
        self._connection.close()


def chunk(data: bytes) -> bytes:
    """Return `data` as one chunk of a body whose length is not known; nothing for no data, which would end the body."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""

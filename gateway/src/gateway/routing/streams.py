"""Answers that go on: each ends when its caller's token does, when their role changes and when the gateway stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.types import Message, Scope, Send

from chassis.core.identity import Identity, Role
from chassis.core.problems import Problem
from chassis.core.signals import wait_with_timeout
from chassis.web.event_stream import stopping
from gateway.auth.revocations import POLL
from gateway.auth.verifier import TokenVerifier
from gateway.routing.versions import Address

_UNTIL_ALL_ENDED = 0.05
"""Seconds between two looks at the streams of a gateway that stops: some may not have begun yet."""


@dataclass(eq=False, slots=True)
class _Stream:
    token: str
    address: Address
    role: Role | None
    deadline: asyncio.Timeout
    began: bool = False
    is_over: bool = False

    def end(self) -> None:
        """End it, once there is an answer that can end."""
        if self.began:
            self.deadline.reschedule(0)


class Streams:
    """The answers of this gateway that go on. One look at all of them each second, not a timer for each."""

    def __init__(self, verifier: TokenVerifier) -> None:
        self._verifier = verifier
        self._open: set[_Stream] = set()
        self._watching: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open(
        self, token: str, identity: Identity, address: Address, scope: Scope, send: Send
    ) -> AsyncIterator[Send]:
        """Give the `send` of an answer; it ends, and with it the block, when it may not go on."""
        stream = _Stream(token, address, identity.role, asyncio.timeout(None))

        async def send_on(message: Message) -> None:
            stream.began = True
            stream.is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        try:
            async with stream.deadline:
                self._open.add(stream)
                self._watch(stopping(scope))
                try:
                    yield send_on
                finally:
                    self._open.discard(stream)
        except TimeoutError:
            if not stream.deadline.expired():
                raise
            if not stream.is_over:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _watch(self, stops: asyncio.Event) -> None:
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._end_in_time(stops))

    async def _end_in_time(self, stops: asyncio.Event) -> None:
        while self._open:
            if await wait_with_timeout(stops, POLL):
                for stream in self._open:
                    stream.end()
                await asyncio.sleep(_UNTIL_ALL_ENDED)
            for stream in list(self._open):
                if not await self._may_go_on(stream):
                    stream.end()

    async def _may_go_on(self, stream: _Stream) -> bool:
        if not await self._verifier.revocations.has_news():  # for which a request would wait
            return False
        try:
            path, project = stream.address.path, stream.address.project
            identity = await self._verifier.permit(stream.token, "GET", path, project, writes=False)
        except Problem:
            return False
        return identity.role is stream.role

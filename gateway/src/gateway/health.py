"""What the services say of themselves: asked at most once a second, however many ask."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chassis.core import version
from chassis.core.problems import StorageFull, Unavailable
from chassis.web.peers import Peer

_TIMEOUT = 2
_FRESH_FOR, _FRESH_FOR_WHEN_AWAY = 1.0, 0.1
"""Seconds; who starts is looked for all the time, by those who wait for it."""


@dataclass(frozen=True, slots=True)
class Health:
    """How the services are: `services` by name, `ok`, `storage_full` or `away`; the `schema` of each one's database."""

    services: dict[str, str] = field(default_factory=dict)
    schema: dict[str, str | None] = field(default_factory=dict)

    @property
    def away(self) -> list[str]:
        """The services that do not say that they are ready."""
        return [name for name, state in self.services.items() if state == "away"]

    @property
    def full(self) -> list[str]:
        """The services that answer and cannot store anything, for want of room."""
        return [name for name, state in self.services.items() if state == "storage_full"]

    @property
    def version(self) -> dict[str, Any]:
        """The versions of software, API and databases; no schema of a database that cannot be asked."""
        return {"software": version.software(), "api": version.API, "schema": self.schema}


class Services:
    """The services behind the gateway, by name."""

    def __init__(self, peers: Mapping[str, Peer]) -> None:
        self._peers = peers
        self._health = Health()
        self._asked_at = float("-inf")
        self._asking = asyncio.Lock()

    async def health(self) -> Health:
        """Return how they are, as of a second ago at most."""
        async with self._asking:  # who comes meanwhile takes the same answer
            if time.monotonic() - self._asked_at > (_FRESH_FOR_WHEN_AWAY if self._health.away else _FRESH_FOR):
                self._health = await self._ask()
                self._asked_at = time.monotonic()
        return self._health

    async def _ask(self) -> Health:
        answers = await asyncio.gather(*(_ready(peer) for peer in self._peers.values()), return_exceptions=True)
        found = dict(zip(self._peers, answers, strict=True))
        return Health(
            {name: _state(said) for name, said in found.items()},
            {name: said.get("schema") if isinstance(said, dict) else None for name, said in found.items()},
        )


def _state(said: dict[str, Any] | BaseException) -> str:
    if isinstance(said, StorageFull):
        return "storage_full"
    if isinstance(said, BaseException):
        return "away"
    return "storage_full" if said.get("storage") == "full" else "ok"


async def _ready(peer: Peer) -> dict[str, Any]:
    """Return what a service says of itself; raise Unavailable when it is not ready."""
    async with asyncio.timeout(_TIMEOUT):
        response = await peer.get("/readyz")
    if response.status_code != 200:
        raise Unavailable("It does not say that it is ready.")
    said: dict[str, Any] = response.json()
    return said

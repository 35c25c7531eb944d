"""The port through which events travel: at least once, in the order of the feed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

Deliver = Callable[[Sequence[bytes]], Awaitable[None]]
"""Takes a batch of serialised events; returning acknowledges it, raising has it delivered again."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A serialised event and its wire name, `<source>.<...>`, by which it is routed."""

    wire_name: str
    envelope: bytes

    @property
    def source(self) -> str:
        """The service that tells it."""
        return self.wire_name.partition(".")[0]


class Bus(Protocol):
    """What carries events between services."""

    def subscribe(self, queue: str, sources: frozenset[str], deliver: Deliver) -> None:
        """Have every event of these sources delivered to `queue`, in order, a batch at a time.

        Subscriptions are made before the bus starts; a queue has one.
        """

    async def start(self) -> None:
        """Begin to deliver."""

    async def publish(self, publications: Sequence[Publication]) -> None:
        """Hand over events; returns when none of them can be lost any more."""

    async def stop(self) -> None:
        """Stop delivering; what is being delivered is finished or will be delivered again."""

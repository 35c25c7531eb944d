"""The port through which events and jobs travel: events at least once, in the order of the feed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

Deliver = Callable[[Sequence[bytes]], Awaitable[None]]
"""Takes a batch of serialised events; returning acknowledges it, raising has it delivered again."""

Work = Callable[[bytes], Awaitable[None]]
"""Does one job; returning acknowledges it, raising gives it up."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A serialised event and its wire name, `<source>.<...>`, by which it is routed."""

    wire_name: str
    envelope: bytes

    @property
    def source(self) -> str:
        """The service that tells it."""
        return self.wire_name.partition(".")[0]


class NotPublished(Exception):
    """At least one event is not known to be with the broker; publish them again. The message is one sentence."""


class Bus(Protocol):
    """What carries events between services, and jobs between the workers of one."""

    def subscribe(self, queue: str, sources: frozenset[str], deliver: Deliver) -> None:
        """Have every event of these sources delivered to `queue`, in order, a batch at a time.

        Of several processes with the same queue one is active. Subscriptions are made before the bus starts; a
        queue has one in each process.
        """

    def take_part(self, queue: str, work: Work) -> None:
        """Have jobs of `queue` done here, one at a time; they are shared with other processes that take part.

        Called before the bus starts.
        """

    async def start(self) -> None:
        """Begin to deliver."""

    async def publish(self, publications: Sequence[Publication]) -> None:
        """Hand over events; returns when none of them can be lost any more, else raises NotPublished."""

    async def send(self, queue: str, job: bytes) -> None:
        """Hand a job to whoever takes part in `queue`.

        A job may be lost, or come twice: it says that there is work, the database says what.
        """

    async def stop(self) -> None:
        """Stop delivering; what is being delivered is finished or will be delivered again."""

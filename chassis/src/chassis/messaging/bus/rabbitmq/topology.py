"""What is declared at the broker: one topic exchange for events, a queue a consumer, a queue a kind of job.

All that belongs to a service begins with its name, so that its user at the broker needs no right beyond (`users.py`).
The default exchange, which reaches every queue, is not used: a queue that is written to by its name has an exchange.

Declaring again changes nothing. All arguments are known to RabbitMQ 3.10 and 4; changing one of them means
another queue name or deleting the queue, so operators better change limits by policy.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from aio_pika import ExchangeType
from aio_pika.abc import AbstractChannel, AbstractExchange
from pamqp.common import FieldTable

_QUORUM: FieldTable = {"x-queue-type": "quorum"}

_MOST_EVENTS = 200_000
"""How many events may wait for one consumer. More are refused and stay in the feed, which bounds the disk, and
loses nothing: the relay tries again, and consumers that are left waiting read the feed themselves."""
_MOST_JOBS = 10_000
"""How many jobs may wait; then the oldest goes, for the database knows what there is to do."""
_MOST_DEAD_LETTERS = 10_000
_MOST_CRASHES = 100
"""How often an event may come back because its consumer died. 4.x would give up after 20, 3.10 never."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The names, which all begin with `name`, and the arguments."""

    name: str

    @property
    def exchange(self) -> str:
        """Where events are published, by their wire name."""
        return f"{self.name}.events"

    def queue(self, queue: str) -> str:
        """Return the name that `queue` has at the broker."""
        return f"{self.name}.{queue}"

    def dead_letters(self, queue: str) -> str:
        """Return the queue, and its exchange, of what the broker gave up to deliver to `queue`."""
        return f"{self.queue(queue)}.dead-letters"

    async def declare_exchange(self, channel: AbstractChannel) -> AbstractExchange:
        """Declare the exchange of all events."""
        return await channel.declare_exchange(self.exchange, ExchangeType.TOPIC, durable=True)

    async def declare_events(self, channel: AbstractChannel, queue: str, sources: Iterable[str]) -> None:
        """Declare a queue that gets every event of `sources`; one of its consumers at a time is active."""
        dead_letters = self.dead_letters(queue)
        await _declare_with_exchange(channel, dead_letters, {**_QUORUM, "x-max-length": _MOST_DEAD_LETTERS})
        declared = await channel.declare_queue(
            self.queue(queue),
            durable=True,
            arguments={
                **_QUORUM,
                "x-single-active-consumer": True,
                "x-max-length": _MOST_EVENTS,
                "x-overflow": "reject-publish",
                "x-delivery-limit": _MOST_CRASHES,
                "x-dead-letter-exchange": dead_letters,
            },
        )
        exchange = await self.declare_exchange(channel)
        for source in sources:
            await declared.bind(exchange, f"{source}.#")

    async def declare_jobs(self, channel: AbstractChannel, queue: str) -> None:
        """Declare a queue of jobs, which any of its consumers takes."""
        # A quorum queue too: it costs a job some milliseconds, and stays when a node of the cluster does not.
        arguments: FieldTable = {**_QUORUM, "x-max-length": _MOST_JOBS, "x-delivery-limit": _MOST_CRASHES}
        await _declare_with_exchange(channel, self.queue(queue), arguments)


async def _declare_with_exchange(channel: AbstractChannel, name: str, arguments: FieldTable) -> None:
    """Declare a queue, and an exchange of the same name that leads to it alone."""
    declared = await channel.declare_queue(name, durable=True, arguments=arguments)
    await declared.bind(await channel.declare_exchange(name, ExchangeType.FANOUT, durable=True))

"""How far a service's events are published, and how far it has received those of others."""

from collections.abc import Sequence

from prometheus_client import Metric

from chassis.core.problems import Unavailable
from chassis.db.database import Database
from chassis.messaging import pruning, relay
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.observability.collectors import GaugeCollector, gauge


def of_feed(source: str, database: Database) -> GaugeCollector:
    """Return the collector of a service's own feed and its relay."""

    async def read() -> list[Metric]:
        async with database.across() as connection:
            own = await relay.progress(connection)
        oldest = own["lag_seconds"] or 0.0
        return [
            gauge("traceline_feed_head", "The last event in the feed.", ("source",), [((source,), own["head"])]),
            gauge(
                "traceline_feed_published",
                "The last event that the bus has confirmed.",
                ("source",),
                [((source,), own["relay_position"])],
            ),
            gauge(
                "traceline_outbox_oldest_unpublished_seconds",
                "How long the oldest event waits that the bus has not confirmed; 0 when there is none.",
                ("source",),
                [((source,), oldest)],
            ),
        ]

    return GaugeCollector(read)


def of_pruning(source: str, database: Database, consumers: Sequence[str]) -> GaugeCollector:
    """Return the collector of how far a service's own feed is pruned, and of whom that waits for."""

    async def read() -> list[Metric]:
        async with database.across() as connection:
            progress = await pruning.progress(connection)
        silent = dict.fromkeys(consumers, 0.0) | {
            row["consumer"]: row["told_seconds_ago"] for row in progress["consumers"]
        }
        return [
            gauge(
                "traceline_feed_pruned",
                "Up to which event only the last one of each thing is kept.",
                ("source",),
                [((source,), progress["pruned"])],
            ),
            gauge(
                "traceline_feed_consumer_silent_seconds",
                "How long a consumer has not told what it received; nothing that comes after that is pruned.",
                ("source", "consumer"),
                [((source, consumer), seconds) for consumer, seconds in silent.items()],
            ),
        ]

    return GaugeCollector(read)


def of_inbox(inbox: Inbox, feeds: Sequence[Feed]) -> GaugeCollector:
    """Return the collector of an inbox; how far it is behind a source is shown while that source answers."""
    consumer = inbox.queue

    async def read() -> list[Metric]:
        failed = await inbox.failed()
        applied = {feed.source: await inbox.position(feed.source) for feed in feeds}
        lag = {}
        for feed in feeds:
            try:
                lag[feed.source] = max(0, await feed.head() - applied[feed.source])
            except Unavailable:
                continue  # the source's own metrics say that it is away
        labels = ("consumer", "source")
        return [
            gauge(
                "traceline_consumer_applied",
                "Up to which event of the source everything was received.",
                labels,
                [((consumer, source), position) for source, position in applied.items()],
            ),
            gauge(
                "traceline_consumer_lag",
                "Events of the source that were not received yet.",
                labels,
                [((consumer, source), events) for source, events in lag.items()],
            ),
            gauge(
                "traceline_inbox_failures",
                "Events that could not be applied and are tried again.",
                ("consumer",),
                [((consumer,), failed["waiting"])],
            ),
            gauge(
                "traceline_inbox_parked",
                "Events that could not be applied and wait for somebody to mend that.",
                ("consumer",),
                [((consumer,), failed["parked"])],
            ),
        ]

    return GaugeCollector(read)

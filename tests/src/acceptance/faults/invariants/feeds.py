"""The feeds are published whole, tell each change of the record once, and reached everybody; nothing is parked."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from acceptance.faults.databases import FOLLOWERS, SERVICES, SOURCES, System, query
from acceptance.faults.draining import Heads
from acceptance.faults.invariants.feed_reading import Event, feed

_RECORD = {"requirement": "requirements", "test_case": "test_cases", "link": "links"}


def violations(system: System, heads: Heads) -> Iterator[str]:
    """What is wrong with feeds, up to these heads, and inboxes."""
    for source in SOURCES:
        yield from _without_gaps(system, source, heads[source])
    yield from _tells_the_record(system, feed(system, "catalog"))
    for follower, sources in FOLLOWERS.items():
        yield from _received(system, follower, {source: heads[source] for source in sources})
    for service in SERVICES:
        for row in query(system, service, "SELECT wire_name, error, attempts FROM inbox_failures"):
            yield f"{service} keeps back {row['wire_name'] or 'a message'}: {row['error']}"


def _without_gaps(system: System, source: str, head: int) -> Iterator[str]:
    (row,) = query(
        system,
        source,
        "SELECT count(*) AS places, count(DISTINCT event_id) AS events, coalesce(max(feed_seq), 0) AS last,"
        " least(%(head)s, (SELECT position FROM relay_position)) AS published"
        " FROM outbox WHERE feed_seq <= %(head)s",
        {"head": head},
    )
    if set(row.values()) != {head}:
        yield f"the feed of {source} has gaps up to {head}, or is not fully published: {row}"


def _tells_the_record(system: System, told: list[Event]) -> Iterator[str]:
    """Each thing of the record was created once, and was deleted once exactly if it is not there."""
    for kind, table in _RECORD.items():
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for event in told:
            _, what, happened = event.type.split(".")
            if what == kind:
                counts[event.data[kind]["id"]][happened] += 1
        stored = {str(row["id"]) for row in query(system, "catalog", f"SELECT id FROM {table}")}
        for id_ in stored | counts.keys():
            created, deleted = counts[id_]["created"], counts[id_]["deleted"]
            if (created, deleted) != (1, 0 if id_ in stored else 1):
                there = "is there" if id_ in stored else "is not there"
                yield f"{kind} {id_} {there}, and was told created {created} times, deleted {deleted} times"


def _received(system: System, follower: str, heads: Heads) -> Iterator[str]:
    """Everything that was told was applied, or is kept with its error; nothing else was applied."""
    applied = {str(row["event_id"]): row["wire_name"] for row in query(system, follower, "SELECT * FROM inbox")}
    kept = {str(row["event_id"]) for row in query(system, follower, "SELECT event_id FROM inbox_failures")}
    told = {event.id: event for source in heads for event in feed(system, source)}
    due = {event.id for event in told.values() if event.is_within(heads)}
    types = {event.type for event in told.values()}
    for id_ in due - applied.keys() - kept:
        yield f"{follower} has never applied {told[id_]}"
    for id_ in applied.keys() - told.keys():
        # A message of a type that nobody tells was put in by hand, and dropped by hand.
        if applied[id_] in types:
            yield f"{follower} has applied {applied[id_]} {id_}, which nobody told"

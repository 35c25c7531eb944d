"""What is left of a feed that was pruned, for stand-ins of services: the rule itself, over envelopes in memory."""

from collections.abc import Iterable, Sequence

from chassis.messaging.events import Message
from chassis.messaging.payloads import Payload


def pruned(feed: Sequence[bytes], events: Iterable[type[Payload]]) -> list[bytes]:
    """Return the last event of each key, and the last event of all; `chassis.messaging.pruning` does it in a table."""
    payloads = {payload.wire_name: payload for payload in events}
    messages = [Message.read(event) for event in feed]
    latest = {
        (message.project, key): message.sequence
        for message in messages
        for key in payloads[message.wire_name].keys_of(message.attributes)
    }
    kept = {*latest.values(), messages[-1].sequence}
    return [message.raw for message in messages if message.sequence in kept]


def page(feed: Sequence[bytes], after: int, limit: int) -> bytes:
    """Return the document of GET /internal/changes over a feed, or what is left of it."""
    places = [Message.read(event).sequence for event in feed]
    head = max(places, default=0)
    left = [event for place, event in zip(places, feed, strict=True) if place > after][:limit]
    return b'{"head":%d,"pruned":%d,"events":[%s]}' % (head, head - 1 if head > len(feed) else 0, b",".join(left))

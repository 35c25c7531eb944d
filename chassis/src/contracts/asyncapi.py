"""The AsyncAPI 3 document of all events, generated from the models: `python -m contracts.asyncapi` prints it.

The one kept beside this file is what it printed last (`make asyncapi`).
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

from chassis.messaging.bus.rabbitmq.topology import Topology
from chassis.messaging.payloads import Payload
from contracts.messages import messages, schemas
from contracts.routes import CONSUMED, PUBLISHED, sources_of

_TOPOLOGY = Topology("traceline")
_AMQP = {"bindingVersion": "0.3.0"}

_ABOUT = """\
What Traceline's services tell one another.

Every source has a feed: its events in the order in which they were committed, numbered by `sequence` without gaps.
Of what was told long ago the last event of each thing is left, from which whoever begins makes the same copy.
They are published in that order and delivered at least once. A consumer applies each `id` once, and ignores fields
that it does not know. The same feed can be read from any place over HTTP, at `GET /internal/changes` of its service.

An event changes by addition only; a breaking change is a new event with a name of its own.\
"""


def document() -> dict[str, Any]:
    """Return the document, ready for JSON."""
    return {
        "asyncapi": "3.1.0",
        "info": {"title": "Traceline events", "version": "1.0.0", "description": _ABOUT},
        "defaultContentType": "application/cloudevents+json",
        "servers": {"rabbitmq": _server()},
        "channels": {_feed(source): _routed(source) for source in PUBLISHED}
        | {_queue(consumer): _queued(consumer) for consumer in CONSUMED},
        "operations": {f"{source}.send": _send(source) for source in PUBLISHED}
        | {f"{consumer}.receive": _receive(consumer) for consumer in CONSUMED},
        "components": {
            "messages": messages(),
            "schemas": schemas(),
            "correlationIds": {
                "request": {
                    "description": "The request that began it all.",
                    "location": "$message.payload#/correlationid",
                }
            },
            "securitySchemes": {"broker": {"type": "userPassword", "description": "The user of RABBITMQ_URL."}},
        },
    }


def _server() -> dict[str, Any]:
    return {
        "host": "{host}:{port}",
        "pathname": "/{vhost}",
        "protocol": "amqp",
        "protocolVersion": "0-9-1",
        "description": "RabbitMQ, from 3.10 on; where it is, each worker reads from RABBITMQ_URL.",
        "variables": {
            "host": {"default": "localhost"},
            "port": {"default": "5672"},
            "vhost": {"default": "%2F", "description": "The virtual host, percent-encoded."},
        },
        "security": [{"$ref": "#/components/securitySchemes/broker"}],
    }


def _routed(source: str) -> dict[str, Any]:
    """Return the channel into which a source publishes."""
    return {
        "address": f"{source}.{{event}}",
        "title": f"The feed of {source}-service",
        "description": "The routing key is the wire name of the event.",
        "parameters": {
            "event": {
                "description": "Of which thing, and what happened to it.",
                "enum": [event.wire_name.removeprefix(f"{source}.") for event in PUBLISHED[source]],
            }
        },
        "messages": _references("#/components/messages/", PUBLISHED[source]),
        "bindings": {
            "amqp": {
                "is": "routingKey",
                "exchange": {"name": _TOPOLOGY.exchange, "type": "topic", "durable": True, "autoDelete": False},
                **_AMQP,
            }
        },
    }


def _queued(consumer: str) -> dict[str, Any]:
    """Return the channel from which a consumer is fed: all events of the sources that it follows."""
    sources = sources_of(consumer)
    keys = ", ".join(f"`{source}.#`" for source in sources)
    return {
        "address": _TOPOLOGY.queue(consumer),
        "title": f"The queue of {consumer}-service",
        "description": f"A quorum queue bound to `{_TOPOLOGY.exchange}` with {keys}. "
        "Of several workers one is the active consumer, so that order is kept.",
        "messages": _references("#/components/messages/", [event for source in sources for event in PUBLISHED[source]]),
        "bindings": {
            "amqp": {
                "is": "queue",
                "queue": {
                    "name": _TOPOLOGY.queue(consumer),
                    "durable": True,
                    "exclusive": False,
                    "autoDelete": False,
                },
                "x-arguments": {"x-queue-type": "quorum", "x-single-active-consumer": True},
                **_AMQP,
            }
        },
    }


def _send(source: str) -> dict[str, Any]:
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{_feed(source)}"},
        "title": f"{source}-service tells what happened",
        "description": "In the order of the feed, each confirmed by the broker before it counts as sent.",
        "tags": [{"name": f"{source}-service"}],
        "bindings": {"amqp": {"deliveryMode": 2, "mandatory": True, **_AMQP}},
        "messages": list(_references(f"#/channels/{_feed(source)}/messages/", PUBLISHED[source]).values()),
    }


def _receive(consumer: str) -> dict[str, Any]:
    return {
        "action": "receive",
        "channel": {"$ref": f"#/channels/{_queue(consumer)}"},
        "title": f"{consumer}-service follows {', '.join(sources_of(consumer))}",
        "description": "The events that it acts on; it acknowledges the others of its queue, and does nothing.",
        "tags": [{"name": f"{consumer}-service"}],
        "bindings": {"amqp": {"ack": True, **_AMQP}},
        "messages": list(_references(f"#/channels/{_queue(consumer)}/messages/", CONSUMED[consumer]).values()),
    }


def _references(place: str, events: Iterable[type[Payload]]) -> dict[str, dict[str, str]]:
    return {event.wire_name: {"$ref": f"{place}{event.wire_name}"} for event in events}


def _feed(source: str) -> str:
    return f"{source}.feed"


def _queue(consumer: str) -> str:
    return f"{consumer}.queue"


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")

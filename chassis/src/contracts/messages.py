"""What an event looks like on the wire, as JSON Schema: the CloudEvents envelope, and each payload from its model."""

from inspect import getdoc
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from chassis.messaging.payloads import Payload
from contracts.routes import PUBLISHED

EVENTS: tuple[type[Payload], ...] = tuple(event for events in PUBLISHED.values() for event in events)
_SCHEMAS = "#/components/schemas/"

ENVELOPE: dict[str, Any] = {
    "title": "CloudEvent",
    "description": "CloudEvents 1.0 in structured JSON, with extension attributes for order, cause and actor.",
    "type": "object",
    "properties": {
        "sequence": {
            "type": "integer",
            "minimum": 1,
            "description": "Place in the feed of its source, from 1: the order key. Never the item's version. What was"
            " told lately has no gaps; of older events the last one of each thing is left.",
        },
        "specversion": {"const": "1.0"},
        "id": {
            "type": "string",
            "format": "uuid",
            "description": "The same whenever the event is delivered again: a consumer applies an id once.",
        },
        "source": {"type": "string", "format": "uri-reference", "description": "`/traceline/` and who tells it."},
        "type": {"type": "string", "description": "The wire name, `<source>.<thing>.<what happened>`."},
        "subject": {"type": "string", "description": "What it happened to: the item's id where there is one item."},
        "time": {"type": "string", "format": "date-time", "description": "When it happened, in UTC."},
        "datacontenttype": {"const": "application/json"},
        "correlationid": {
            "type": "string",
            "description": "Id of the request that began it all; empty when no request did.",
        },
        "gatewayrequestid": {
            "type": "string",
            "description": "Id that the gateway gave that request, which its caller cannot choose; absent where no"
            " request led to it, or one whose id is not kept.",
        },
        "causationid": {
            "type": "string",
            "format": "uuid",
            "description": "Id of the event that led to this one; absent when a request or the clock did.",
        },
        "traceparent": {
            "type": "string",
            "description": "W3C trace context of what led to it; absent when no traces were recorded.",
        },
        "batchid": {
            "type": "string",
            "format": "uuid",
            "description": "Id of the import that it is one of many changes of, and ends with `catalog.import.applied`;"
            " absent for a change by itself.",
        },
        "publishtrace": {
            "type": "string",
            "description": "W3C trace context of its publishing; in no feed, and absent without traces.",
        },
        "actor": {
            "type": "string",
            "description": "Email of the user who did it, or `system`, `anonymous` or the name of a service.",
        },
        "actorid": {"type": "integer", "description": "Id of the user who did it; absent when it was no user."},
        "atpage": {
            "const": True,
            "description": "The user did it in the page, with the cookie of a session; absent otherwise, and of what"
            " was done later, in the background.",
        },
        "data": {"type": "object", "description": "What happened; each event has a schema of its own."},
    },
    "required": [
        "sequence",
        "specversion",
        "id",
        "source",
        "type",
        "subject",
        "time",
        "datacontenttype",
        "correlationid",
        "actor",
        "data",
    ],
}
"""The envelope of every event; `chassis.messaging.events.NewEvent` writes it."""


def messages() -> dict[str, Any]:
    """Return the AsyncAPI message of each event, by wire name."""
    return {event.wire_name: _message(event) for event in EVENTS}


def schemas() -> dict[str, Any]:
    """Return the schemas that the messages refer to, by name: the envelope, the payloads and what they are made of."""
    _, payloads = models_json_schema(
        [(event, "serialization") for event in EVENTS],
        ref_template=f"{_SCHEMAS}{{model}}",
        schema_generator=_WithoutFieldTitles,
    )
    return {"CloudEvent": ENVELOPE, **payloads["$defs"]}


class _WithoutFieldTitles(GenerateJsonSchema):
    """A title of each field would only say its name once more."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _message(event: type[Payload]) -> dict[str, Any]:
    source = event.wire_name.partition(".")[0]
    return {
        "name": event.wire_name,
        "title": event.__name__,
        "summary": getdoc(event),
        "correlationId": {"$ref": "#/components/correlationIds/request"},
        "payload": {
            "allOf": [
                {"$ref": f"{_SCHEMAS}CloudEvent"},
                {
                    "properties": {
                        "type": {"const": event.wire_name},
                        "source": {"const": f"/traceline/{source}"},
                        "data": {"$ref": f"{_SCHEMAS}{event.__name__}"},
                    }
                },
            ]
        },
    }

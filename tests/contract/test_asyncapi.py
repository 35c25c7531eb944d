"""The AsyncAPI document: valid, kept up to date, and true of every message that is or was sent."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from jsonschema_rs import Draft7Validator, Draft202012Validator, meta

import contracts.asyncapi
from acceptance.golden import Golden, golden_messages
from chassis.messaging.events import Actor, Message, NewEvent, UndecodableMessage, sequenced
from contracts import messages
from contracts.messages import ENVELOPE

DOCUMENT = contracts.asyncapi.document()
KEPT = Path(contracts.asyncapi.__file__).with_name("asyncapi.json")
SPECIFICATION = Path(__file__).parent / "asyncapi" / "3.1.0.json"
EVENTS = {event.wire_name: event for event in messages.EVENTS}

each_event = pytest.mark.parametrize("wire_name", EVENTS)
each_golden_message = pytest.mark.parametrize("golden", golden_messages(), ids=str)


@cache
def payload_of(wire_name: str) -> Draft202012Validator:
    """Return what holds a whole message against its schema in the document, formats included (draft 7 has no uuid)."""
    schema = {"$ref": f"#/components/messages/{wire_name}/payload", "components": DOCUMENT["components"]}
    return Draft202012Validator(schema, validate_formats=True)


def mistakes(schema: Draft7Validator | Draft202012Validator, instance: Any) -> list[str]:
    return [f"{error.instance_path}: {error.message}" for error in schema.iter_errors(instance)]


def found_at(reference: str) -> Any:
    """Return what a `$ref` of the document leads to; raise KeyError when it leads nowhere."""
    assert reference.startswith("#/")
    found: Any = DOCUMENT
    for step in reference[2:].split("/"):
        found = found[step]
    return found


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for inside in part:
            yield from references(inside)


def without_each_field(part: dict[str, Any], place: str = "") -> Iterator[str]:
    """Take every field of `part`, and of what it holds, away for one moment, and return its place."""
    for name in list(part):
        inside = part[name]
        del part[name]
        yield f"{place}/{name}"
        part[name] = inside
        for one in inside if isinstance(inside, list) else [inside]:
            if isinstance(one, dict):
                yield from without_each_field(one, f"{place}/{name}")


def test_the_document_is_asyncapi_3() -> None:
    specification = json.loads(SPECIFICATION.read_bytes())
    assert mistakes(Draft7Validator(specification), DOCUMENT) == []


def test_the_document_kept_is_what_the_models_give() -> None:
    assert json.loads(KEPT.read_bytes()) == DOCUMENT, (
        "the events changed: run 'make asyncapi' and commit what it writes"
    )


def test_every_reference_leads_somewhere() -> None:
    found = set(references(DOCUMENT))
    assert len(found) > len(EVENTS)
    for reference in found:
        assert isinstance(found_at(reference), dict)


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"])
def test_every_schema_is_a_json_schema_with_a_description(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    assert meta.is_valid({"$schema": "http://json-schema.org/draft-07/schema#", **schema})
    assert schema["description"]


def test_every_event_has_its_message_and_every_message_its_event() -> None:
    assert set(DOCUMENT["components"]["messages"]) == set(EVENTS)


@each_event
def test_an_event_is_sent_by_its_source_alone_with_its_wire_name_as_routing_key(wire_name: str) -> None:
    source, _, rest = wire_name.partition(".")
    senders = []
    for operation in DOCUMENT["operations"].values():
        channel = found_at(operation["channel"]["$ref"])
        sent = [found_at(message["$ref"])["$ref"] for message in operation["messages"]]
        if operation["action"] == "send" and f"#/components/messages/{wire_name}" in sent:
            senders += [tag["name"] for tag in operation["tags"]]
            assert channel["address"] == f"{source}.{{event}}"
            assert rest in channel["parameters"]["event"]["enum"]
            assert channel["bindings"]["amqp"]["exchange"]["type"] == "topic"
    assert senders == [f"{source}-service"]


@each_event
def test_an_event_has_at_least_one_receiver(wire_name: str) -> None:
    receivers = [
        name
        for name, operation in DOCUMENT["operations"].items()
        if operation["action"] == "receive"
        and any(found_at(message["$ref"])["$ref"].endswith(f"/{wire_name}") for message in operation["messages"])
    ]
    assert receivers != []


@each_golden_message
def test_a_message_of_any_version_fits_the_schema_of_today(golden: Golden) -> None:
    assert mistakes(payload_of(golden.wire_name), golden.message()) == []


@each_golden_message
def test_what_is_sent_today_fits_the_schema(golden: Golden) -> None:
    data = EVENTS[golden.wire_name].model_validate(golden.message()["data"])
    sent = json.loads(sequenced(1, NewEvent(data, "subject", Actor(None, "system")).envelope()))
    assert mistakes(payload_of(golden.wire_name), sent) == []


@each_golden_message
def test_the_schema_asks_for_the_fields_that_a_reader_needs_and_no_others(golden: Golden) -> None:
    message = golden.message()
    schema, event = payload_of(golden.wire_name), EVENTS[golden.wire_name]
    refused = 0
    for place in without_each_field(message["data"]):
        try:
            Message.read(json.dumps(message).encode()).decode(event)
        except UndecodableMessage:
            readable = False
            refused += 1
        else:
            readable = True
        assert schema.is_valid(message) == readable, place
    assert refused > 0


@each_golden_message
def test_a_message_without_an_attribute_that_every_event_has_is_refused(golden: Golden) -> None:
    schema = payload_of(golden.wire_name)
    for name in ENVELOPE["required"]:
        message = golden.message()
        del message[name]
        assert not schema.is_valid(message), name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("type", "catalog.link.deleted"),
        ("source", "/traceline/auth"),
        ("time", "yesterday"),
        ("id", "1"),
        ("sequence", 0),
        ("specversion", "0.3"),
        ("actorid", "3"),
    ],
)
def test_a_message_with_a_false_attribute_is_refused(name: str, value: Any) -> None:
    [golden] = [golden for golden in golden_messages() if str(golden) == "catalog.link.created"]
    schema = payload_of("catalog.link.created")
    assert schema.is_valid(golden.message())
    assert not schema.is_valid(golden.message() | {name: value})


def test_the_envelope_is_described_as_it_is_sent() -> None:
    [golden] = [golden for golden in golden_messages() if str(golden) == "catalog.link.created"]
    data = EVENTS["catalog.link.created"].model_validate(golden.message()["data"])
    fullest = NewEvent(
        data,
        "subject",
        Actor(1, "ana@example.com", at_page=True),
        causation_id=golden.message()["id"],
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        gateway_request_id="0a8f6f1f5a114c5b9d0d5f0c3b1e2f6e",
        batch_id=UUID(int=1),
    )
    barest = NewEvent(data, "subject", Actor(None, "system"))
    added = {"publishtrace"}  # by the relay, while traces are recorded
    assert set(json.loads(sequenced(1, fullest.envelope()))) | added == set(ENVELOPE["properties"])
    assert set(json.loads(sequenced(1, barest.envelope()))) == set(ENVELOPE["required"])

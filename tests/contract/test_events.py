"""The contract of every event: messages of the first version can still be read, and lose nothing today.

Each file of `events` is a whole message as it was first sent, every optional field filled. It is never changed:
it stands for what lies in queues and feeds. A breaking change is a new wire name with a file of its own.
"""

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from chassis.events import Message, NewEvent, Payload, Received, UndecodableMessage, sequenced
from contracts import auth, catalog, suggestion

MODULES = {"auth": auth, "catalog": catalog, "suggestion": suggestion}
EVENTS = [event for module in MODULES.values() for event in module.EVENTS]
FIXTURES = {path.stem: path for path in (Path(__file__).parent / "events").glob("*.json")}

each_event = pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.wire_name)


def golden(event: type[Payload]) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(FIXTURES[event.wire_name].read_bytes())
    return message


def read(message: dict[str, Any], event: type[Payload]) -> Received[Any]:
    return Message.read(json.dumps(message).encode()).decode(event)


def emitted(message: dict[str, Any], event: type[Payload]) -> dict[str, Any]:
    """Give what is sent today when the same happens as in `message`."""
    received = read(message, event)
    again = NewEvent(
        received.data,
        message["subject"],
        received.actor,
        causation_id=message["causationid"],
        id=received.id,
        time=received.time,
        correlation_id=received.correlation_id,
    )
    sent: dict[str, Any] = json.loads(sequenced(received.sequence, again.envelope()))
    return sent


def lost(before: Any, now: Any, place: str = "") -> list[str]:
    """Give the places of `before` that `now` lacks, or has with another JSON type."""
    if type(before) is not type(now):
        return [place]
    if isinstance(before, dict):
        return [
            found
            for name, value in before.items()
            for found in (lost(value, now[name], f"{place}/{name}") if name in now else [f"{place}/{name}"])
        ]
    if isinstance(before, list):
        if len(before) != len(now):
            return [place]
        return [found for index, value in enumerate(before) for found in lost(value, now[index], f"{place}/{index}")]
    return []


def test_every_event_has_its_message_and_every_message_its_event() -> None:
    assert sorted(FIXTURES) == sorted(event.wire_name for event in EVENTS)


def test_every_payload_that_is_published_is_listed() -> None:
    for module in MODULES.values():
        published = {
            member
            for member in vars(module).values()
            if isinstance(member, type) and issubclass(member, Payload) and member is not Payload
        }
        assert published == set(module.EVENTS)


def test_wire_names_are_unique() -> None:
    names = [event.wire_name for event in EVENTS]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("source", MODULES)
def test_wire_names_say_who_tells_what_of_which_thing(source: str) -> None:
    for event in MODULES[source].EVENTS:
        assert re.fullmatch(rf"{source}\.[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*", event.wire_name)


@each_event
def test_a_message_names_its_event_and_is_a_cloudevent(event: type[Payload]) -> None:
    message = golden(event)
    assert message["type"] == event.wire_name
    assert message["source"] == f"/traceline/{event.wire_name.partition('.')[0]}"
    assert (message["specversion"], message["datacontenttype"]) == ("1.0", "application/json")


@each_event
def test_a_message_of_the_first_version_can_be_read(event: type[Payload]) -> None:
    message = golden(event)
    received = read(message, event)
    assert isinstance(received.data, event)
    assert (received.source, received.sequence) == (event.wire_name.partition(".")[0], message["sequence"])
    assert (received.actor.email, received.actor.id) == (message["actor"], message["actorid"])
    assert received.correlation_id == message["correlationid"]


@each_event
def test_what_is_sent_today_has_every_field_of_the_first_version(event: type[Payload]) -> None:
    message = golden(event)
    assert lost(message, emitted(message, event)) == []


@each_event
def test_a_message_with_fields_of_a_later_version_can_be_read(event: type[Payload]) -> None:
    message = golden(event)
    message["later"] = 1
    message["data"]["later"] = {"unheard": "of"}
    for value in message["data"].values():
        if isinstance(value, dict) and "id" in value:
            value["later"] = True
    read(message, event)


@each_event
def test_a_message_without_its_payload_is_refused(event: type[Payload]) -> None:
    with pytest.raises(UndecodableMessage):
        read(golden(event) | {"data": {}}, event)


@each_event
def test_no_message_leaves_a_field_out(event: type[Payload]) -> None:
    def missing(model: type[BaseModel], value: dict[str, Any], place: str) -> list[str]:
        found = [f"{place}/{name}" for name in model.model_fields if value.get(name) is None]
        for name, info in model.model_fields.items():
            inner = [kind for kind in (info.annotation, *get_args(info.annotation)) if isinstance(kind, type)]
            for kind in inner:
                if issubclass(kind, BaseModel) and isinstance(value.get(name), dict) and kind is not catalog.Change:
                    found += missing(kind, value[name], f"{place}/{name}")
        return found

    # A field that was added later has no place in the first version; it must be optional, which reading proves.
    first_version = golden(event)["data"]
    assert missing(event, first_version, "") == ADDED_LATER.get(event.wire_name, [])


ADDED_LATER: dict[str, list[str]] = {}
"""The places of fields that came after the first version, by wire name."""

"""The contract of every event: messages of every version can still be read, and lose nothing today.

A golden message stands for what lies in queues and feeds; how events change is told in contracts/__init__.py.
"""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from acceptance.golden import Golden, golden_messages
from chassis.messaging.events import Message, NewEvent, Received, UndecodableMessage, sequenced
from chassis.messaging.payloads import Payload
from contracts import catalog
from contracts.routes import PUBLISHED

MODULES = {source: import_module(f"contracts.{source}") for source in PUBLISHED}
EVENTS = {event.wire_name: event for events in PUBLISHED.values() for event in events}
GOLDEN = golden_messages()
NEWEST = {golden.wire_name: golden for golden in GOLDEN}

each_golden_message = pytest.mark.parametrize("golden", GOLDEN, ids=str)
each_newest_message = pytest.mark.parametrize("golden", NEWEST.values(), ids=str)


def read(message: dict[str, Any]) -> Received[Any]:
    return Message.read(json.dumps(message).encode()).decode(EVENTS[message["type"]])


def emitted(message: dict[str, Any]) -> dict[str, Any]:
    """Return what is sent today when the same happens as in `message`."""
    received = read(message)
    again = NewEvent(
        received.data,
        message["subject"],
        received.actor,
        causation_id=message["causationid"],
        id=received.id,
        time=received.time,
        correlation_id=received.correlation_id,
        batch_id=received.batch_id,
    )
    sent: dict[str, Any] = json.loads(sequenced(received.sequence, again.envelope()))
    return sent


def lost(before: Any, now: Any, place: str = "") -> list[str]:
    """Return the places of `before` that `now` lacks, or has with another JSON type."""
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
    assert set(NEWEST) == set(EVENTS)


@each_newest_message
def test_the_versions_of_an_event_are_numbered_without_gaps(golden: Golden) -> None:
    versions = [other.version for other in GOLDEN if other.wire_name == golden.wire_name]
    assert versions == list(range(1, golden.version + 1))


def test_later_versions_are_found_and_come_after_earlier_ones(tmp_path: Path) -> None:
    for name in ("a.thing.done.10.json", "a.thing.done.json", "a.thing.done.2.json", "a.thing.begun.json"):
        (tmp_path / name).write_text("{}")
    found = [(golden.wire_name, golden.version) for golden in golden_messages(tmp_path)]
    assert found == [("a.thing.begun", 1), ("a.thing.done", 1), ("a.thing.done", 2), ("a.thing.done", 10)]


@pytest.mark.parametrize(
    "name", ["a.thing.done.1.json", "a.thing.json", "a.thing.done.v2.json", "a.thing.done.02.json"]
)
def test_a_golden_message_with_an_odd_name_is_not_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(ValueError, match=re.escape(name)):
        golden_messages(tmp_path)


def test_every_payload_that_is_published_is_listed() -> None:
    for source, module in MODULES.items():
        published = {
            member
            for member in vars(module).values()
            if isinstance(member, type) and issubclass(member, Payload) and hasattr(member, "wire_name")
        }
        assert published == set(PUBLISHED[source])


def test_wire_names_are_unique() -> None:
    names = [event.wire_name for events in PUBLISHED.values() for event in events]
    assert sorted(set(names)) == sorted(names)


KEYS: dict[str, tuple[str, ...]] = {
    "auth.user.created": ("auth.user {user[id]}",),
    "auth.user.updated": ("auth.user {user[id]}",),
    "auth.user.erased": ("auth.user {user[id]}",),
    "auth.user.password_changed": ("auth.user {user[id]}",),
    "auth.user.password_reset": ("auth.user {user[id]}",),
    "auth.password_reset.offered": (),
    "auth.invitation.made": (),
    "auth.invitation.accepted": (),
    "auth.invitation.revoked": (),
    "auth.token.ended": (),
    "auth.sessions.ended": (),
    "auth.keys.replaced": (),
    "auth.login.succeeded": (),
    "auth.login.failed": (),
    "auth.second_factor.changed": (),
    "auth.recovery_code.used": (),
    "auth.api_token.created": ("auth.api_token {token[id]}",),
    "auth.api_token.revoked": ("auth.api_token {token[id]}",),
    "auth.api_token.used_elsewhere": (),
    "auth.access.refused": (),
    "auth.data.read": (),
    "auth.project.created": ("auth.project {project[key]}",),
    "auth.project.updated": ("changes of auth.project {project[key]}",),
    "auth.project.archived": ("changes of auth.project {project[key]}",),
    "auth.project.deletion_planned": ("changes of auth.project {project[key]}",),
    "auth.project.restored": ("changes of auth.project {project[key]}",),
    "auth.project.deleted": ("auth.project {project[key]}", "changes of auth.project {project[key]}"),
    "auth.member.changed": ("auth.member {project} {user_id}",),
    "auth.member.removed": ("auth.member {project} {user_id}",),
    "catalog.requirement.created": ("catalog.requirement {requirement[id]}",),
    "catalog.requirement.updated": ("changes of catalog.requirement {requirement[id]}",),
    "catalog.requirement.deleted": (
        "catalog.requirement {requirement[id]}",
        "changes of catalog.requirement {requirement[id]}",
    ),
    "catalog.test_case.created": ("catalog.test_case {test_case[id]}",),
    "catalog.test_case.updated": ("changes of catalog.test_case {test_case[id]}",),
    "catalog.test_case.deleted": ("catalog.test_case {test_case[id]}", "changes of catalog.test_case {test_case[id]}"),
    "catalog.link.created": ("catalog.link {link[id]}",),
    "catalog.link.updated": ("changes of catalog.link {link[id]}",),
    "catalog.link.deleted": ("catalog.link {link[id]}", "changes of catalog.link {link[id]}"),
    "catalog.relation.created": ("catalog.relation {relation[id]}",),
    "catalog.relation.updated": ("changes of catalog.relation {relation[id]}",),
    "catalog.relation.deleted": ("catalog.relation {relation[id]}", "changes of catalog.relation {relation[id]}"),
    "catalog.reference.deleted": (),
    "catalog.coverage.changed": (),
    "catalog.coverage.dropped": (),
    "catalog.import.applied": ("catalog.import {import_id}",),
    "catalog.import.progressed": (),
    "catalog.test_run.completed": (),
    "catalog.accepted_failure.created": ("catalog.accepted_failure {accepted_failure[id]}",),
    "catalog.accepted_failure.ended": (
        "catalog.accepted_failure {accepted_failure[id]}",
        "changes of catalog.accepted_failure {accepted_failure[id]}",
    ),
    "catalog.automated_tests.retired": (),
    "catalog.fields.changed": (),
    "catalog.levels.changed": (),
    "suggestion.item.generated": (),
    "suggestion.run.progressed": (),
    "suggestion.run.finished": (),
    "suggestion.suggestion.reviewed": ("{suggestion[requirement_id]} {suggestion[test_case_id]}",),
    "suggestion.suggestions.reopened": (),
    "suggestion.suggestions.expired": (),
    "suggestion.proposal.made": (),
    "suggestion.proposal.reviewed": (),
}
"""What each event tells the whole state of: in a pruned feed it takes the place of all before that tell of the same."""


@each_golden_message
def test_an_event_says_what_it_tells_of(golden: Golden) -> None:
    data = golden.message()["data"]
    if golden.wire_name == "suggestion.pending_pairs.changed":
        expected = [f"{one} {other}" for one, others in data["pairs"].items() for other in others]
    elif golden.wire_name == "suggestion.suggestions.bulk_reviewed":
        expected = [f"{one['requirement_id']} {one['test_case_id']}" for one in data["suggestions"]]
    else:
        expected = [key.format(**data) for key in KEYS[golden.wire_name]]
    assert list(EVENTS[golden.wire_name].keys_of(golden.message())) == expected


@pytest.mark.parametrize("source", PUBLISHED)
def test_wire_names_say_who_tells_what_of_which_thing(source: str) -> None:
    for event in PUBLISHED[source]:
        assert re.fullmatch(rf"{source}\.[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*", event.wire_name)


@each_golden_message
def test_a_message_names_its_event_and_is_a_cloudevent(golden: Golden) -> None:
    message = golden.message()
    assert message["type"] == golden.wire_name
    assert message["source"] == f"/traceline/{golden.wire_name.partition('.')[0]}"
    assert (message["specversion"], message["datacontenttype"]) == ("1.0", "application/json")


@each_golden_message
def test_a_message_of_any_version_can_be_read(golden: Golden) -> None:
    message = golden.message()
    received = read(message)
    assert isinstance(received.data, EVENTS[golden.wire_name])
    assert (received.source, received.sequence) == (golden.wire_name.partition(".")[0], message["sequence"])
    assert (received.actor.email, received.actor.id) == (message["actor"], message.get("actorid"))
    assert received.actor.at_page is message.get("atpage", False)
    assert received.correlation_id == message["correlationid"]


@each_golden_message
def test_what_is_sent_today_has_every_field_of_each_version(golden: Golden) -> None:
    message = golden.message()
    assert lost(message, emitted(message)) == []


@each_newest_message
def test_a_message_with_fields_of_a_later_version_can_be_read(golden: Golden) -> None:
    message = golden.message()
    message["later"] = 1
    message["data"]["later"] = {"unheard": "of"}
    for value in message["data"].values():
        if isinstance(value, dict) and "id" in value:
            value["later"] = True
    read(message)


@each_golden_message
def test_a_message_without_its_payload_is_refused(golden: Golden) -> None:
    with pytest.raises(UndecodableMessage):
        read(golden.message() | {"data": {}})


@each_newest_message
def test_the_newest_message_leaves_no_field_of_the_model_out(golden: Golden) -> None:
    def missing(model: type[BaseModel], value: dict[str, Any], place: str) -> list[str]:
        found = [f"{place}/{name}" for name in model.model_fields if value.get(name) is None]
        for name, info in model.model_fields.items():
            inside = value.get(name)
            for kind in (info.annotation, *get_args(info.annotation)):
                if isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not catalog.Change:
                    for one in inside if isinstance(inside, list) else [inside]:
                        found += missing(kind, one, f"{place}/{name}")
        return found

    unfilled = missing(EVENTS[golden.wire_name], golden.message()["data"], "")
    assert unfilled == [], f"add tests/contract/events/{golden.wire_name}.{golden.version + 1}.json with these filled"

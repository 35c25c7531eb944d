"""Every consumer knows every event of the sources that it follows: an unknown one would be parked."""

from collections.abc import Collection

import pytest

import notification_service.handlers
import suggestion_service.handlers
from chassis.events import Payload
from contracts.asyncapi import document
from contracts.routes import CONSUMED, PUBLISHED


def _suggestion_service() -> tuple[set[type[Payload]], set[type[Payload]]]:
    table = suggestion_service.handlers.handlers(score=True, queued=lambda: None)
    return set(table), set(suggestion_service.handlers.IGNORED)


CONSUMERS: dict[str, tuple[Collection[type[Payload]], Collection[type[Payload]]]] = {
    "notification": (set(notification_service.handlers.HANDLERS), set()),
    "suggestion": _suggestion_service(),
}

each_consumer = pytest.mark.parametrize("consumer", CONSUMERS)


@each_consumer
def test_a_consumer_knows_every_event_of_the_sources_that_it_follows(consumer: str) -> None:
    handled, ignored = CONSUMERS[consumer]
    known = {event.wire_name for event in (*handled, *ignored)}
    followed = {name.partition(".")[0] for name in known}
    assert known == {event.wire_name for source in followed for event in PUBLISHED[source]}


@each_consumer
def test_no_consumer_both_handles_and_ignores_an_event(consumer: str) -> None:
    handled, ignored = CONSUMERS[consumer]
    assert set(handled) & set(ignored) == set()


def test_notifications_audit_log_and_activity_follow_everybody() -> None:
    handled, _ = CONSUMERS["notification"]
    assert set(handled) == {event for events in PUBLISHED.values() for event in events}


def test_suggestions_follow_the_catalog_alone() -> None:
    handled, ignored = CONSUMERS["suggestion"]
    assert {event.wire_name.partition(".")[0] for event in (*handled, *ignored)} == {"catalog"}


def test_the_published_table_of_consumers_is_what_they_handle() -> None:
    assert {consumer: set(events) for consumer, events in CONSUMED.items()} == {
        consumer: set(handled) for consumer, (handled, _) in CONSUMERS.items()
    }


@each_consumer
def test_the_asyncapi_document_has_a_consumer_receive_what_it_handles(consumer: str) -> None:
    handled, _ = CONSUMERS[consumer]
    operation = document()["operations"][f"{consumer}.receive"]
    assert operation["action"] == "receive"
    received = {message["$ref"].rpartition("/")[2] for message in operation["messages"]}
    assert received == {event.wire_name for event in handled}


@each_consumer
def test_the_asyncapi_document_puts_into_a_queue_what_its_consumer_knows(consumer: str) -> None:
    handled, ignored = CONSUMERS[consumer]
    queued = document()["channels"][f"{consumer}.queue"]["messages"]
    assert set(queued) == {event.wire_name for event in (*handled, *ignored)}

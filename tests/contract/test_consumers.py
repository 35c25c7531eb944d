"""Every consumer knows every event of the sources that it follows: an unknown one would be parked."""

from collections.abc import Collection

import pytest

import notification_service.handlers
import suggestion_service.handlers
from chassis.events import Payload
from contracts import auth, catalog, suggestion

TOLD_BY = {"auth": auth.EVENTS, "catalog": catalog.EVENTS, "suggestion": suggestion.EVENTS}


def _suggestion_service() -> tuple[set[type[Payload]], set[type[Payload]]]:
    table = suggestion_service.handlers.handlers(score=True, queued=lambda: None)
    return set(table), set(suggestion_service.handlers.IGNORED)


CONSUMERS: dict[str, tuple[Collection[type[Payload]], Collection[type[Payload]]]] = {
    "notification-service": (set(notification_service.handlers.HANDLERS), set()),
    "suggestion-service": _suggestion_service(),
}

each_consumer = pytest.mark.parametrize("consumer", CONSUMERS)


@each_consumer
def test_a_consumer_knows_every_event_of_the_sources_that_it_follows(consumer: str) -> None:
    handled, ignored = CONSUMERS[consumer]
    known = {event.wire_name for event in (*handled, *ignored)}
    followed = {name.partition(".")[0] for name in known}
    assert known == {event.wire_name for source in followed for event in TOLD_BY[source]}


@each_consumer
def test_no_consumer_both_handles_and_ignores_an_event(consumer: str) -> None:
    handled, ignored = CONSUMERS[consumer]
    assert set(handled) & set(ignored) == set()


def test_notifications_audit_log_and_activity_follow_everybody() -> None:
    handled, _ = CONSUMERS["notification-service"]
    assert set(handled) == {event for events in TOLD_BY.values() for event in events}


def test_suggestions_follow_the_catalog_alone() -> None:
    handled, ignored = CONSUMERS["suggestion-service"]
    assert {event.wire_name.partition(".")[0] for event in (*handled, *ignored)} == {"catalog"}

"""What each consumer handles is what the published table of the traffic says."""

from importlib import import_module
from importlib.util import find_spec

import pytest

from chassis.messaging.payloads import Momentary, Payload
from contracts import auth, suggestion
from contracts.asyncapi import document
from contracts.routes import AUTH, CONSUMED, PUBLISHED, SERVICES, Service, ignored_by


def handled_by(package: str) -> set[type[Payload]]:
    module = import_module(f"{package}.handlers")
    return set(module.HANDLERS if hasattr(module, "HANDLERS") else module.handlers(scales=None, queued=lambda: None))


HANDLED = {
    service.context: handled_by(service.package) for service in SERVICES if find_spec(f"{service.package}.handlers")
}

each_consumer = pytest.mark.parametrize("consumer", HANDLED)


def test_notifications_audit_log_and_activity_follow_everybody() -> None:
    told = {event for events in PUBLISHED.values() for event in events}
    assert HANDLED["notification"] == told - {suggestion.PendingPairsChanged}, "nobody is told of each pair"


@pytest.mark.parametrize("service", [service for service in SERVICES if service is not AUTH], ids=lambda one: one.name)
def test_every_service_hears_that_projects_end_and_that_people_are_erased(service: Service) -> None:
    assert {auth.ProjectDeleted, auth.UserErased} <= set(service.consumes), "it would keep what is of them"


def test_suggestions_follow_the_catalog_projects_and_who_is_erased_alone() -> None:
    assert {event.wire_name.rpartition(".")[0] for event in HANDLED["suggestion"]} == {
        "catalog.requirement",
        "catalog.test_case",
        "catalog.link",
        "catalog.import",
        "auth.project",
        "auth.user",
    }
    assert auth.UserUpdated not in HANDLED["suggestion"]


def test_the_published_table_of_consumers_is_what_they_handle() -> None:
    assert {consumer: set(events) for consumer, events in CONSUMED.items()} == HANDLED


@pytest.mark.parametrize("package", [one.package for one in SERVICES if find_spec(f"{one.package}.read_model")])
def test_what_a_copy_is_made_of_is_kept_when_feeds_are_pruned(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://unused")
    copied = set(import_module(f"{package}.read_model").new_read_model().handlers)
    assert copied
    assert [event for event in copied if issubclass(event, Momentary)] == []


@each_consumer
def test_the_asyncapi_document_has_a_consumer_receive_what_it_handles(consumer: str) -> None:
    operation = document()["operations"][f"{consumer}.receive"]
    assert operation["action"] == "receive"
    received = {message["$ref"].rpartition("/")[2] for message in operation["messages"]}
    assert received == {event.wire_name for event in HANDLED[consumer]}


@each_consumer
def test_the_asyncapi_document_puts_into_a_queue_what_its_consumer_knows(consumer: str) -> None:
    queued = document()["channels"][f"{consumer}.queue"]["messages"]
    assert set(queued) == {event.wire_name for event in (*HANDLED[consumer], *ignored_by(consumer))}

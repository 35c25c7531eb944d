"""Who tells which events, and who acts on them: the whole traffic between the services in one place.

A consumer's queue gets all events of a source that it follows; those it has no use for are not listed here. The
handlers of the services are held against this table by tests/contract/test_consumers.py.
"""

from collections.abc import Mapping

from chassis.messaging.events import Payload
from contracts import auth, catalog, suggestion

PUBLISHED: Mapping[str, tuple[type[Payload], ...]] = {
    "auth": auth.EVENTS,
    "catalog": catalog.EVENTS,
    "suggestion": suggestion.EVENTS,
}
"""The events of each source, which is the first word of their wire names."""

CONSUMED: Mapping[str, tuple[type[Payload], ...]] = {
    "suggestion": (
        catalog.RequirementCreated,
        catalog.RequirementUpdated,
        catalog.RequirementDeleted,
        catalog.TestCaseCreated,
        catalog.TestCaseUpdated,
        catalog.TestCaseDeleted,
        catalog.LinkCreated,
        catalog.LinkDeleted,
    ),
    "notification": (*auth.EVENTS, *catalog.EVENTS, *suggestion.EVENTS),
}
"""The events that each consumer acts on, by the name of its queue."""


def ignored_by(consumer: str) -> list[type[Payload]]:
    """Return the events of the sources that a consumer follows which it has no use for."""
    published = [event for source in sources_of(consumer) for event in PUBLISHED[source]]
    return [event for event in published if event not in CONSUMED[consumer]]


def sources_of(consumer: str) -> list[str]:
    """Return the sources that a consumer follows: its queue is bound to everything that they tell."""
    return sorted({event.wire_name.partition(".")[0] for event in CONSUMED[consumer]})

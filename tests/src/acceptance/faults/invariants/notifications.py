"""People are told of each event exactly once: notifications and audit entries against the feeds."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid5

from acceptance.faults.databases import SOURCES, Row, System, query
from acceptance.faults.draining import Heads
from acceptance.faults.invariants.feed_reading import Event, feed
from notification_service.notifications import REQUESTS

_SUGGESTED = "suggestion.item.generated"
_REVIEWED = "suggestion.suggestion.reviewed"
_REOPENED = "suggestion.suggestions.reopened"
_TO_ACTOR = {
    "catalog.requirement.created",
    "catalog.test_case.created",
    _SUGGESTED,
    "suggestion.run.finished",
    _REVIEWED,
    "suggestion.suggestions.bulk_reviewed",
    _REOPENED,
}
_COVERAGE = "catalog.coverage.dropped"
_IMPORTED = "catalog.import.applied"
_NOT_AUDITED = {
    "catalog.coverage.changed",
    "catalog.import.progressed",
    "suggestion.run.progressed",
    "suggestion.pending_pairs.changed",
}

Entry = tuple[datetime, str, str | None]
"""When it happened, what was done, to which resource."""


def violations(system: System, heads: Heads) -> Iterator[str]:
    """Events, up to these heads, that somebody was not told; any that they were told twice, or without a reason."""
    notifications = query(system, "notification", "SELECT event_id, user_id FROM notifications")
    entries = query(system, "notification", "SELECT occurred_at, action, resource_id FROM audit_entries")
    # Read after what was told of them, so that nothing was told of an event that is not here.
    events = [event for source in SOURCES for event in feed(system, source)]
    due = [event for event in events if event.is_within(heads)]
    yield from _notifications(notifications, events, due)
    yield from _audit(entries, events, due)


def _notifications(notifications: list[Row], events: list[Event], due: list[Event]) -> Iterator[str]:
    drops = {event.id for event in events if event.type == _COVERAGE}
    found: Counter[tuple[str, int | None]] = Counter()
    told_of_drops: set[str] = set()
    for row in notifications:
        if str(row["event_id"]) in drops:
            told_of_drops.add(str(row["event_id"]))
        else:
            found[str(row["event_id"]), row["user_id"]] += 1
    by_id = {_told_by(event): event for event in events}
    undone = _undone(events)
    for (id_, user), count in (_to_actors(due) - found - undone).items():
        yield f"user {user} was told {count} times too few of {by_id[id_]}"
    for (id_, user), count in (found - (_to_actors(events) - undone)).items():
        yield f"user {user} was told {count} times too often of {by_id.get(id_, id_)}"
    # Who reviews changes with time: that nobody is told twice is a constraint, that somebody is told is checked.
    for id_ in {event.id for event in due} & drops - told_of_drops:
        yield f"nobody was told of {by_id[id_]}"


def _to_actors(events: list[Event]) -> Counter[tuple[str, int | None]]:
    return Counter({(_told_by(event), event.actor_id) for event in events if _is_told_to_actor(event)})


def _undone(events: list[Event]) -> Counter[tuple[str, int | None]]:
    """Return the reviews that who made them has undone: of those they are told no more."""
    undone = {
        (one["id"], one["review_id"], event.actor_id)
        for event in events
        if event.type == _REOPENED
        for one in event.data["suggestions"]
        if one["reviewed_by"] == event.actor
    }
    return Counter(
        (event.id, event.actor_id)
        for event in events
        if event.type == _REVIEWED
        and (event.data["suggestion"]["id"], event.data["review_id"], event.actor_id) in undone
    )


def _told_by(event: Event) -> str:
    """Suggestions for all items that one request changed are told of together."""
    return str(uuid5(REQUESTS, event.correlation_id)) if event.type == _SUGGESTED else event.id


def _is_told_to_actor(event: Event) -> bool:
    data: dict[str, Any] = event.data
    if event.type == _IMPORTED:
        created = [data["counts"].get(kind, {}).get("create", 0) for kind in ("requirement", "test_case")]
        return event.actor_id is not None and any(created)
    return (
        event.type in _TO_ACTOR
        and event.batch_id is None
        and event.actor_id is not None
        and data.get("suggestions_created", 1) + (event.type == "suggestion.run.finished") > 0
        and data.get("status") != "cancelled"
    )


def _audit(entries: list[Row], events: list[Event], due: list[Event]) -> Iterator[str]:
    found = Counter[Entry]((row["occurred_at"], row["action"], row["resource_id"]) for row in entries)
    for entry, count in (Counter(entry for event in due for entry in _entries(event)) - found).items():
        yield f"the audit log lacks {count} x {_shown(entry)}"
    for entry, count in (found - Counter(entry for event in events for entry in _entries(event))).items():
        yield f"the audit log has {count} x too often {_shown(entry)}"


def _entries(event: Event) -> Iterator[Entry]:
    if event.type in _NOT_AUDITED:
        return
    time = datetime.fromisoformat(event.time)
    _, thing, happened = event.type.split(".")
    data = event.data
    if thing == "link" and "confirmed_at" in data.get("changes", {}):
        yield time, "link.confirmed", data["link"]["id"]
    elif thing in {"requirement", "test_case", "link"}:
        yield time, f"{thing}.{happened}", data[thing]["id"]
    elif thing == "suggestion":
        yield time, f"suggestion.{data['suggestion']['status']}", data["suggestion"]["id"]
    elif happened == "bulk_reviewed":
        ids = [one["id"] for one in data["suggestions"]]
        yield time, f"suggestion.{data['suggestions'][0]['status']}", _of_all(ids)
    elif happened == "reopened":
        yield time, "suggestion.reopened", _of_all([one["id"] for one in data["suggestions"]])
    elif happened == "expired":
        yield time, "suggestion.expired", _of_all(data["suggestion_ids"])
    elif thing == "item":
        if data["suggestions_created"]:
            yield time, "suggestion.generated", None
    elif thing == "run":
        yield time, f"run.{data['status']}", data["run_id"]
    elif thing == "import":
        yield time, "import.applied", data["import_id"]
    elif thing == "test_run":
        yield time, "test_run.completed", data["run_id"]
    elif thing == "coverage":
        yield time, "coverage.dropped", None
    elif thing == "user":
        yield time, f"user.{happened}", str(data["user"]["id"])
    elif thing == "token":
        yield time, "user.logged_out", str(data["user_id"])
    elif thing == "keys":
        yield time, "user.keys_replaced", None
    elif thing == "sessions":
        yield time, "user.sessions_ended", str(data["user_id"])
    elif thing == "second_factor":
        yield time, "user.second_factor_changed", str(data["user_id"])
    elif thing == "password_reset":
        yield time, "user.password_reset_offered", str(data["user_id"])
    elif thing == "recovery_code":
        yield time, "user.recovery_code_used", str(data["user_id"])
    elif thing == "project":
        yield time, f"project.{happened}", data["project"]["key"]
    elif thing == "member":
        yield time, f"project.member_{happened}", data["project"]
    elif thing == "api_token":
        yield time, f"user.api_token_{happened}", str(data["token"]["user_id"])
    elif thing == "access":
        action = "access_refused" if data["status"] != 429 else "throttled"
        yield time, *_of_request(event, data["project"], action)
    elif thing == "data":
        action = "exported" if data["what"] == "export" else "audit_log_read"
        yield time, *_of_request(event, data["project"], action)
    elif happened == "succeeded":
        yield time, "user.logged_in", str(data["user_id"])
    else:
        yield time, "user.login_failed", None


def _of_request(event: Event, project: str | None, action: str) -> tuple[str, str | None]:
    if project is not None:
        return f"project.{action}", project
    return f"user.{action}", None if event.actor_id is None else str(event.actor_id)


def _of_all(ids: list[str]) -> str | None:
    """One entry is about all; of a single one it names the resource."""
    return ids[0] if len(ids) == 1 else None


def _shown(entry: Entry) -> str:
    time, action, resource = entry
    return f"{action} of {resource} at {time.isoformat()}"

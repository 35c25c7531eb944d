"""The audit entries of an event: who did what to which resource, with its fields before and after."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.core.wording import counted, percent
from chassis.messaging.events import Actor, Received
from contracts import catalog
from notification_service.vocabulary import AuditAction, ResourceType
from notification_service.wording import (
    Pair,
    given,
    import_outcome,
    joined,
    listed,
    named,
    pair,
    titled,
    who,
)

# How the two ends of a link, a suggestion or a relation are called: the sentence and the title of an entry say it.
END_NAMES = frozenset(
    f"{end}_{name}" for end in ("requirement", "test_case", "child", "parent") for name in ("title", "external_id")
)


@dataclass(slots=True)
class Entry:
    """One line of the audit log.

    `before` and `after` are the whole item (none before it was created, none after it was deleted), or the
    fields that changed. What was done to several resources at once, the same to each, is one line: they are the
    `resource_ids` then, and there is no `resource_id`. `batch_id` is that of the import that it is one of many changes
    of: activity shows the import. `item_ids` are the requirements and test cases that it is about beside its resource.
    """

    occurred_at: datetime
    actor: str
    actor_id: int | None
    action: AuditAction
    resource_type: ResourceType
    resource_id: str | None
    resource_title: str | None
    summary: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    details: Mapping[str, Any] | None
    request_id: str
    gateway_request_id: str | None
    resource_ids: Sequence[str] | None = None
    batch_id: UUID | None = None
    item_ids: Sequence[str] | None = None


_ENDS = ("child", "parent")
Entries = Callable[[Received[Any]], Iterable[Entry]]


def created(kind: ResourceType) -> Entries:
    """Return the entries of the event of a new item; its payload holds the item under `kind`."""
    action = AuditAction(f"{kind}.created")

    def entries(event: Received[Any]) -> Iterable[Entry]:
        item = getattr(event.data, kind)
        yield _item_entry(event, action, kind, item, "created", None, _said(item))

    return entries


def deleted(kind: ResourceType) -> Entries:
    """Return the entries of the event of a deleted item: what it was is `before`."""
    action = AuditAction(f"{kind}.deleted")

    def entries(event: Received[Any]) -> Iterable[Entry]:
        item = getattr(event.data, kind)
        yield _item_entry(event, action, kind, item, "deleted", _said(item), None)

    return entries


def _said(item: Any) -> dict[str, Any]:
    """Return the fields of an item that say something: most are in no section, and none has a choice of its place."""
    return {
        name: value
        for name, value in vars(item).items()
        if name != "position" and value is not False and not (name == "section" and not value)
    }


def updated(kind: ResourceType) -> Entries:
    """Return the entries of the event of changed fields of an item."""
    action = AuditAction(f"{kind}.updated")

    def entries(event: Received[Any]) -> Iterable[Entry]:
        changes = event.data.changes
        is_confirmed = "confirmed_at" in changes
        verb = "confirmed" if is_confirmed else f"changed {listed(changes)} of"
        before = {field: change.before for field, change in changes.items()}
        after = {field: change.after for field, change in changes.items()}
        done = AuditAction(f"{kind}.confirmed") if is_confirmed else action
        yield _item_entry(event, done, kind, getattr(event.data, kind), verb, before, after)

    return entries


def reference_deleted(event: Received[catalog.ReferenceDeleted]) -> Iterable[Entry]:
    """Return one entry for the reference that was given up."""
    reference = event.data.reference
    owner = reference.owner
    wanted = f"{reference.key_kind.replace('_', ' ')} {reference.key}"
    whose = reference.other_key if owner is None else named(owner.kind, owner.title, owner.external_id)
    before = given(reference, frozenset({"id", "owner"}))
    yield entry_of(
        event,
        AuditAction.REFERENCE_DELETED,
        ResourceType.REFERENCE,
        str(reference.id),
        wanted,
        f"{who(event.actor)} gave up the reference from {whose} to the {wanted}, which is not there.",
        before,
        None,
        None if owner is None else {f"{owner.kind}_id": owner.id},
        item_ids=None if owner is None else [str(owner.id)],
    )


def coverage_dropped(event: Received[catalog.CoverageDropped]) -> Iterable[Entry]:
    """Return one entry for the drop."""
    now = event.data
    yield entry_of(
        event,
        AuditAction.COVERAGE_DROPPED,
        ResourceType.COVERAGE,
        None,
        None,
        f"Coverage fell to {percent(now.coverage, below=now.threshold)}, below the threshold of"
        f" {percent(now.threshold)}.",
        details=vars(now),
    )


def import_applied(event: Received[catalog.ImportApplied]) -> Iterable[Entry]:
    """Return one entry for the import; each change that it made has its own."""
    applied = event.data
    file = "a file" if applied.file_name is None else f"“{applied.file_name}”"
    # The import itself is shown.
    yield replace(
        entry_of(
            event,
            AuditAction.IMPORT_APPLIED,
            ResourceType.IMPORT,
            str(applied.import_id),
            applied.file_name,
            f"{who(event.actor)} imported {file}, which {import_outcome(applied)}.",
            details=given(applied, frozenset({"import_id", "file_name"})),
        ),
        batch_id=None,
    )


def test_run_completed(event: Received[catalog.TestRunCompleted]) -> Iterable[Entry]:
    """Return one entry for the run."""
    run = event.data
    yield entry_of(
        event,
        AuditAction.TEST_RUN_COMPLETED,
        ResourceType.TEST_RUN,
        str(run.run_id),
        run.name or run.key,
        f"A run of {counted(run.counts['tests'], 'test')} ended on {run.branch}: {run.counts['failed']} failed.",
        details=given(run, frozenset({"run_id"})),
    )


def accepted_failure_created(event: Received[catalog.AcceptedFailureCreated]) -> Iterable[Entry]:
    """Return one entry for the failure that is accepted."""
    accepted = event.data.accepted_failure
    yield entry_of(
        event,
        AuditAction.ACCEPTED_FAILURE_CREATED,
        ResourceType.ACCEPTED_FAILURE,
        str(accepted.id),
        _failing(accepted),
        f"{who(event.actor)} accepted that {_failing(accepted)} fails, until {accepted.until:%Y-%m-%d}:"
        f" {accepted.reason}",
        None,
        vars(accepted),
    )


def accepted_failure_ended(event: Received[catalog.AcceptedFailureEnded]) -> Iterable[Entry]:
    """Return one entry for the failure that is not accepted any more."""
    accepted = event.data.accepted_failure
    failing = _failing(accepted)
    summary = {
        "until": f"That {failing} fails is not accepted any more: its time is over.",
        "no_longer_needed": f"That {failing} fails is not accepted any more, no longer needed: it has passed three"
        " whole runs.",
        "person": f"{who(event.actor)} no longer accepts that {failing} fails.",
    }[event.data.ended_because]
    yield entry_of(
        event,
        AuditAction.ACCEPTED_FAILURE_ENDED,
        ResourceType.ACCEPTED_FAILURE,
        str(accepted.id),
        failing,
        summary,
        {"ended_at": None, "ended_because": None},
        {"ended_at": event.data.ended_at, "ended_because": event.data.ended_because},
        given(accepted, frozenset({"id"})),
    )


def _failing(accepted: catalog.AcceptedFailureState) -> str:
    if accepted.automated_test_id is not None:
        return f"the test {accepted.test_name or accepted.automated_test_id}"
    if accepted.test_case_title is None:
        return "a test case"
    return named("test_case", accepted.test_case_title, accepted.test_case_external_id)


def automated_tests_retired(event: Received[catalog.AutomatedTestsRetired]) -> Iterable[Entry]:
    """Return one entry for all tests of the event."""
    retired = event.data.tests
    only = retired[0] if len(retired) == 1 else None
    tests = f"the test {only.name}" if only is not None else counted(len(retired), "test")
    entry = entry_of(
        event,
        AuditAction.AUTOMATED_TEST_RETIRED,
        ResourceType.AUTOMATED_TEST,
        None if only is None else str(only.id),
        None if only is None else only.name,
        f"{who(event.actor)} retired {tests}: {event.data.note}",
        {"retired": False},
        {"retired": True, "note": event.data.note},
        {"tests": [vars(one) for one in retired]},
    )
    entry.resource_ids = None if only is not None else [str(one.id) for one in retired]
    yield entry


def fields_changed(event: Received[catalog.FieldsChanged]) -> Iterable[Entry]:
    """Return one entry for the fields of the project, those that differ by their keys."""
    before, after = ({one["key"]: one for one in fields} for fields in (event.data.before, event.data.after))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    which = f"the {'field' if len(keys) == 1 else 'fields'} {listed(keys)}" if keys else "the order of the fields"
    yield entry_of(
        event,
        AuditAction.PROJECT_FIELDS_CHANGED,
        ResourceType.PROJECT,
        None,
        None,
        f"{who(event.actor)} changed {which} of the project.",
        {key: before.get(key) for key in keys},
        {key: after.get(key) for key in keys},
    )


def levels_changed(event: Received[catalog.LevelsChanged]) -> Iterable[Entry]:
    """Return one entry for the levels of the project, as they were and are."""
    yield entry_of(
        event,
        AuditAction.PROJECT_LEVELS_CHANGED,
        ResourceType.PROJECT,
        None,
        None,
        f"{who(event.actor)} changed the levels of the project.",
        {"levels": event.data.before},
        {"levels": event.data.after},
    )


# The entry says these itself, or they are no field of the resource.
_HIDDEN = frozenset({"id", "created_at", "updated_at"}) | END_NAMES


def changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what an entry stores as people read it: each field that has a value, with its `before` and `after`."""
    old = {} if before is None else before
    new = {} if after is None else after
    return {
        field: {"before": _shown(field, old.get(field)), "after": _shown(field, new.get(field))}
        for field in {**old, **new}
        if field not in _HIDDEN and (old.get(field) is not None or new.get(field) is not None)
    }


def _shown(field: str, value: Any) -> Any:
    """Return a time as all others are given: some were stored with their offset."""
    if field.endswith("_at") and isinstance(value, str) and value.endswith("+00:00"):
        return value.removesuffix("+00:00") + "Z"
    return value


def _item_entry(
    event: Received[Any],
    action: AuditAction,
    kind: ResourceType,
    item: Any,
    verb: str,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> Entry:
    item_ids = None
    if kind is ResourceType.LINK:
        item_ids = items_of([item])
        ends = pair(item)
        summary = f"{who(event.actor)} {verb} the link between {ends}."
        title = joined(item)
        details = {"requirement_id": item.requirement_id, "test_case_id": item.test_case_id}
    elif kind is ResourceType.RELATION:
        item_ids = [str(item.child_id), str(item.parent_id)]
        child, parent = (titled(getattr(item, f"{end}_title"), getattr(item, f"{end}_external_id")) for end in _ENDS)
        summary = f"{who(event.actor)} {verb} the relation from {child} up to {parent}."
        title = f"{_short(item, 'child')} ↑ {_short(item, 'parent')}"
        details = {"child_id": item.child_id, "parent_id": item.parent_id}
    else:
        summary = f"{who(event.actor)} {verb} {named(kind, item.title, item.external_id)}."
        title = item.title
        details = {"version": item.version}
    if event.batch_id is not None:
        details["import_id"] = event.batch_id
    return entry_of(event, action, kind, str(item.id), title, summary, before, after, details, item_ids=item_ids)


def _short(relation: catalog.RelationState, end: str) -> str:
    return " ".join(filter(None, (getattr(relation, f"{end}_external_id"), getattr(relation, f"{end}_title"))))


def items_of(pairs: Iterable[Pair]) -> list[str]:
    """Return the requirements and test cases of pairs, each once."""
    return list(dict.fromkeys(str(id_) for one in pairs for id_ in (one.requirement_id, one.test_case_id)))


def entry_of(
    event: Received[Any],
    action: AuditAction,
    resource_type: ResourceType,
    resource_id: str | None,
    resource_title: str | None,
    summary: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    details: Mapping[str, Any] | None = None,
    actor: Actor | None = None,
    item_ids: Sequence[str] | None = None,
) -> Entry:
    """Return the entry of an event, by its actor unless another is named."""
    by = event.actor if actor is None else actor
    return Entry(
        event.time,
        by.email,
        by.id,
        action,
        resource_type,
        resource_id,
        resource_title,
        summary,
        before,
        after,
        details,
        event.correlation_id,
        event.gateway_request_id or None,
        batch_id=event.batch_id,
        item_ids=item_ids,
    )

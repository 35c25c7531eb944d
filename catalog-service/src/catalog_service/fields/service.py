"""What admins of a project make of its fields."""

from collections.abc import Callable, Sequence
from typing import Any

from catalog_service.fields import repository
from catalog_service.fields.definitions import CHOOSING, Fields, ProjectField
from catalog_service.fields.values import refusal
from chassis.core.problems import Conflict, FieldError, Invalid, pointer
from chassis.core.wording import counted, shown
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.listing import Row
from contracts.catalog import FieldsChanged


def answered(defined: Sequence[ProjectField]) -> Row:
    """Return fields as they are answered."""
    return {"fields": [field.model_dump(mode="json") for field in defined]}


async def define(
    connection: Connection, defined: Sequence[ProjectField], actor: Actor, check: Callable[[Row], None]
) -> Fields:
    """Put fields in place of those of the project; return them. Items keep the values of those that are removed.

    Raises what `check` raises, Invalid for a default that its field does not take, and Conflict for a field in use that
    would be of another kind, or lose a choice.
    """
    _check_defaults(defined)
    await repository.make_row(connection)
    present, former = await repository.read(connection, lock=True)
    before, after = answered(present.defined), answered(defined)
    check(before)
    if before == after:
        return present
    kinds = {**former, **{field.key: field.kind for field in present.defined}}
    for field in defined:
        if field.key in kinds and kinds[field.key] != field.kind:
            await _refuse_other_kind(connection, field, kinds[field.key])
        if field.key in present.by_key and field.kind in CHOOSING:
            await _refuse_lost_choice(connection, present.by_key[field.key], field)
    keys = {field.key for field in defined}
    left = {key: str(kind) for key, kind in kinds.items() if key not in keys}
    stored = await repository.put(connection, defined, left)
    await outbox.record(connection, [_event(before, after, actor)])
    return stored


def _check_defaults(defined: Sequence[ProjectField]) -> None:
    wrong = [
        FieldError(pointer("fields", number, "default"), told, "field_value")
        for number, field in enumerate(defined)
        if field.default is not None and (told := refusal(field, field.default)) is not None
    ]
    if wrong:
        raise Invalid.fields(wrong)


def _event(before: Row, after: Row, actor: Actor) -> NewEvent:
    payload: dict[str, Any] = {"before": before["fields"], "after": after["fields"]}
    return NewEvent(FieldsChanged.model_validate(payload), "fields", actor)


async def _refuse_other_kind(connection: Connection, field: ProjectField, was: str) -> None:
    count = await repository.count_used(connection, field.key)
    if count:
        raise Conflict(
            f"The field {field.key} is of the kind {was}, and {counted(count, 'item')} {_have(count)} a value of it: it"
            f" cannot become {field.kind}. Make a field with another key, or remove the values first.",
            code="field_in_use",
            members={"key": field.key, "count": count},
        )


async def _refuse_lost_choice(connection: Connection, before: ProjectField, after: ProjectField) -> None:
    for choice in before.choices:
        if choice not in after.choices:
            count = await repository.count_used(connection, f"{before.key}={choice}")
            if count:
                raise Conflict(
                    f"The choice {shown(choice)} of the field {before.key} cannot go: {counted(count, 'item')}"
                    f" {_have(count)} it. Give them another first.",
                    code="field_in_use",
                    members={"key": before.key, "count": count},
                )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"

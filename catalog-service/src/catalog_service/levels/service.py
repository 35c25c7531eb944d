"""What admins of a project make of its levels, and what level a requirement may have."""

from collections.abc import Callable, Sequence

from catalog_service.levels import repository
from catalog_service.levels.schemas import LevelsWrite
from chassis.core.problems import Conflict, Invalid
from chassis.core.wording import counted, listed, shown
from chassis.db.database import Connection
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.listing import Row
from contracts.catalog import LevelsChanged


async def read(connection: Connection) -> Row:
    """Return the levels of the project as they are answered."""
    return {"levels": await repository.read(connection)}


async def define(connection: Connection, body: LevelsWrite, actor: Actor, check: Callable[[Row], None]) -> Row:
    """Put levels in place of those of the project; return them. Raises what `check` raises, and Conflict.

    That is of a level that requirements have, and that would not be there any more.
    """
    await repository.lock(connection)
    before, after = await read(connection), body.model_dump(mode="json")
    check(before)
    if before == after:
        return before
    kept = {level["key"] for level in after["levels"]}
    removed = [level for level in before["levels"] if level["key"] not in kept]
    await repository.lock_levels(connection, [level["key"] for level in removed])
    for level in removed:
        await _refuse_used(connection, level)
    await repository.put(connection, after["levels"])
    event = LevelsChanged(before=before["levels"], after=after["levels"])
    await outbox.record(connection, [NewEvent(event, "levels", actor)])
    return after


async def _refuse_used(connection: Connection, level: Row) -> None:
    count = await repository.count_used(connection, level["key"])
    if count:
        has = "is" if count == 1 else "are"
        raise Conflict(
            f"The level {level['key']} ({level['name']}) cannot go: {counted(count, 'requirement')} {has} of it. Give"
            " them another first, or none.",
            code="level_in_use",
            members={"key": level["key"], "count": count},
        )


async def check_level(connection: Connection, key: str | None) -> None:
    """Raise Invalid for a level that the project has not."""
    if key is not None and key not in (known := await repository.keys(connection)):
        raise unknown_level(key, known)


def unknown_level(key: str, known: Sequence[str]) -> Invalid:
    """Return the problem of a level that the project, whose levels are `known`, has not."""
    return Invalid.field("/level", f"{shown(key)}{about_unknown_level(known)}", "unknown_level")


def about_unknown_level(known: Sequence[str]) -> str:
    """Return what is said behind a level that the project, whose levels are `known`, has not."""
    if not known:
        return " is no level: the project has none. An admin defines them (PUT /levels); or leave it out."
    return f" is no level of the project, which has {listed(known, 'and')}. Choose one of these, or leave it out."

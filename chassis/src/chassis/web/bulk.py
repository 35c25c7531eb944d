"""Changes of many by one request: of those with these ids, or of exactly those that a filter was seen to find."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager

from chassis.core.problems import Conflict, FieldError, Invalid
from chassis.db.database import Connection
from chassis.web.conditions import Conditions

Begin = Callable[[], AbstractAsyncContextManager[Connection]]
"""Begins a transaction, or a part of one that can be rolled back by itself."""


@contextmanager
def pointing_into(member: str, instead_of: str = "") -> Iterator[None]:
    """Let errors of fields, which point into `instead_of` or the whole body, point into a member of the body."""
    try:
        yield
    except Invalid as invalid:
        raise Invalid.fields(
            [FieldError(f"/{member}{e.pointer.removeprefix(instead_of)}", e.message, e.code) for e in invalid.errors]
        ) from None


def check_narrowed(conditions: Conditions, advice: str) -> None:
    """Raise Invalid unless a filter says something; `advice` says what it could."""
    if not conditions.narrowed:
        raise Invalid.field("/filter", f"The filter says nothing. {advice}", "empty_filter")


def check_count(expected: int | None, count: int, found: str, not_done: str) -> None:
    """Raise Conflict `count_changed` unless there are as many as expected; `found` says how many there are."""
    if count != expected:
        raise Conflict(
            f"Nothing was {not_done}: expected_count is {expected}, but {found} now. Look at them again"
            ' ("dry_run": true), then send the new number.',
            code="count_changed",
            members={"expected_count": expected, "count": count},
        )


@asynccontextmanager
async def part_of(connection: Connection) -> AsyncIterator[Connection]:
    """A part of the transaction of a connection: a Begin, with the connection given."""
    async with connection.transaction():
        yield connection

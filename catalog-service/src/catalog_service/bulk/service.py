"""Changes of many: in parts, each a transaction; one that cannot be changed holds up no other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import monotonic
from typing import Any, Protocol, TypeVar
from uuid import UUID

from fastapi import Request, Response
from psycopg import Rollback

from catalog_service.bulk.schemas import BulkChange, BulkStatus
from chassis.core import problems
from chassis.core.batches import all_or_each
from chassis.core.identity import Identity
from chassis.core.problems import PreconditionFailed, Problem
from chassis.core.wording import counted
from chassis.db.database import AWAY, Connection, Database
from chassis.messaging.events import Actor, actor_of
from chassis.web.bulk import Begin, check_count, check_narrowed, part_of, pointing_into
from chassis.web.conditions import Conditions
from chassis.web.edge import as_problem
from chassis.web.idempotency import answer_once
from chassis.web.listing import Row
from chassis.web.responses import answer, check_match

_AT_ONCE = 100
"""So many items, as large as they may be, are in memory."""
_SECONDS = 15
"""Then it is answered what was done: the gateway does not wait much longer."""
_SHOWN = 20
_MOST_RESULTS = 500


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one."""

    status: BulkStatus
    etag: str | None = None
    problem: Problem | None = None


R = TypeVar("R", bound=Mapping[str, Any])


def checked(rows: Sequence[R], asked: BulkChange, etag_of: Callable[[R], str]) -> tuple[list[R], dict[UUID, Outcome]]:
    """Return the rows whose `if_match` holds, and of all what becomes of them if nothing is changed."""
    outcomes: dict[UUID, Outcome] = {}
    for row in rows:
        tag = etag_of(row)
        try:
            check_match(asked.if_match.get(row["id"]), tag)
        except PreconditionFailed as stale:
            outcomes[row["id"]] = Outcome(BulkStatus.FAILED, tag, stale)
        else:
            outcomes[row["id"]] = Outcome(BulkStatus.UNCHANGED, tag)
    return [row for row in rows if outcomes[row["id"]].problem is None], outcomes


class Many(Protocol):
    """Things of which many can be changed at once.

    `label` is what one is called, `path` the address of their list, `key` their id in SQL.
    """

    label: str
    path: str
    key: str

    def check(self, asked: Any) -> None:
        """Raise Invalid for what none of them may become."""

    async def conditions(self, connection: Connection, filters: Any) -> Conditions:
        """Return what a filter asks for; raise Invalid."""

    async def find(self, connection: Connection, conditions: Conditions) -> list[UUID]:
        """Return the ids of those that fulfil the conditions, in an order that is the same for everybody."""

    async def first(self, connection: Connection, conditions: Conditions, limit: int) -> list[Row]:
        """Return the newest of them, as they are answered."""

    async def change(
        self, connection: Connection, ids: Sequence[UUID], conditions: Conditions, asked: Any, actor: Actor
    ) -> Mapping[UUID, Outcome]:
        """Lock those of the ids that fulfil the conditions and do what is asked; return what became of each."""

    def not_found(self) -> Problem:
        """Return the problem of an id that nothing has."""


async def answer_many(
    request: Request, database: Database, reviewer: Identity, many: Many, asked: BulkChange
) -> Response:
    """Change many, once for the same `Idempotency-Key`; return the answer.

    Raises Invalid for a filter that says nothing or cannot be read, Conflict for another number than was expected.
    """

    async def change(begin: Begin) -> Response:
        return answer(await _Change(many, begin, asked, actor_of(reviewer)).run())

    if "idempotency-key" not in request.headers:
        return await change(database.transaction)
    # In the transaction of the key: a request that holds one connection must not wait for another.
    return await answer_once(request, database, reviewer, lambda connection: change(partial(part_of, connection)))


class _Change:
    """One request."""

    def __init__(self, many: Many, begin: Begin, asked: BulkChange, actor: Actor) -> None:
        self._many = many
        self._begin = begin
        self._asked = asked
        self._actor = actor
        self._conditions = Conditions()
        self._outcomes: dict[UUID, Outcome] = {}

    async def run(self) -> Row:
        """Do it, or say what would be done; return the answer."""
        asked = self._asked
        self._many.check(asked)
        async with self._begin() as connection:
            if asked.filter is None:
                chosen = list(dict.fromkeys(asked.ids or []))
                of_ids = Conditions(f"{self._many.key} = ANY(%(ids)s)", ids=chosen)
                matched = len(await self._many.find(connection, of_ids))
            else:
                self._conditions = await self._read(connection)
                chosen = await self._many.find(connection, self._conditions)
                matched = len(chosen)
                if asked.dry_run or asked.expected_count is None:
                    return self._preview(matched, await self._many.first(connection, self._conditions, _SHOWN))
        if asked.expected_count is not None:
            found = f"{self._counted(matched)} {'is' if matched == 1 else 'are'} there"
            check_count(asked.expected_count, matched, found, "deleted" if asked.delete else "changed")
        ends = monotonic() + _SECONDS
        for start in range(0, len(chosen), _AT_ONCE):
            if start and monotonic() > ends:
                break
            await all_or_each(chosen[start : start + _AT_ONCE], self._change, self._fail, fatal=AWAY)
        return self._answer(matched, chosen)

    async def _read(self, connection: Connection) -> Conditions:
        with pointing_into("filter", instead_of="/query"):
            conditions = await self._many.conditions(connection, self._asked.filter)
        check_narrowed(
            conditions, 'Say what to change, for example {"updated_since": "1970-01-01"}: that is everything.'
        )
        return conditions

    async def _change(self, ids: Sequence[UUID]) -> None:
        outcomes: dict[UUID, Outcome] = {}
        async with self._begin() as connection:
            outcomes.update(await self._many.change(connection, ids, self._conditions, self._asked, self._actor))
            if self._asked.dry_run:
                raise Rollback
        for one in ids:
            self._outcomes[one] = outcomes.get(one) or Outcome(BulkStatus.FAILED, problem=self._gone())

    def _gone(self) -> Problem:
        if self._asked.filter is None:
            return self._many.not_found()
        return PreconditionFailed(
            f"Somebody changed this {self._many.label} since it was counted: the filter does not find it any more."
        )

    async def _fail(self, one: UUID, error: Exception) -> None:
        self._outcomes[one] = Outcome(BulkStatus.FAILED, problem=as_problem(error))

    def _preview(self, matched: int, items: list[Row]) -> Row:
        if matched == 0:
            message = f"Nothing was changed: no {self._many.label} matches this filter."
        else:
            shown = f"; the newest {_SHOWN} are shown" if matched > _SHOWN else ""
            message = (
                f"Nothing was changed: {self._counted(matched)} {'matches' if matched == 1 else 'match'} this filter"
                f'{shown}. To go on, send the same with "expected_count": {matched}, without "dry_run".'
            )
        return {**self._counts(matched, 0), "dry_run": True, "message": message, "results": [], "items": items}

    def _answer(self, matched: int, chosen: Sequence[UUID]) -> Row:
        asked = [one for one in (self._asked.ids or chosen) if one in self._outcomes]
        if self._asked.filter is not None and len(asked) > _MOST_RESULTS:
            asked.sort(key=lambda one: self._outcomes[one].status is not BulkStatus.FAILED)
        return {
            **self._counts(matched, len(chosen) - len(self._outcomes)),
            "dry_run": self._asked.dry_run,
            "message": self._message(len(chosen)),
            "results": [self._result(one) for one in islice(asked, _MOST_RESULTS)],
            "items": [],
        }

    def _counts(self, matched: int, remaining: int) -> Row:
        done = 0 if self._asked.dry_run else self._number(BulkStatus.CHANGED) + self._number(BulkStatus.DELETED)
        return {
            "matched": matched,
            "changed": done,
            "unchanged": self._number(BulkStatus.UNCHANGED),
            "failed": self._number(BulkStatus.FAILED),
            "remaining": remaining,
        }

    def _number(self, status: BulkStatus) -> int:
        return sum(outcome.status is status for outcome in self._outcomes.values())

    def _message(self, chosen: int) -> str:
        done = BulkStatus.DELETED if self._asked.delete else BulkStatus.CHANGED
        number, same, failed = (self._number(one) for one in (done, BulkStatus.UNCHANGED, BulkStatus.FAILED))
        verb = "would be" if self._asked.dry_run else "was" if number == 1 else "were"
        parts = [f"{self._counted(number)} {verb} {done}"]
        if same:
            parts.append(f"{same} {'is' if same == 1 else 'are'} so already")
        if failed:
            parts.append(f"{failed} cannot be: `results` tells why")
        message = f"{', '.join(parts)}."
        if self._asked.dry_run:
            return f'Nothing was changed. {message} To do so, send the same without "dry_run".'
        if left := chosen - len(self._outcomes):
            are = "is" if left == 1 else "are"
            return f"{message} There was no time for {left}, which {are} as before: send the same for what is left."
        if len(self._outcomes) > _MOST_RESULTS:
            return f"{message} `results` shows {_MOST_RESULTS} of {len(self._outcomes)}, those that failed first."
        return message

    def _counted(self, number: int) -> str:
        return counted(number, self._many.label)

    def _result(self, one: UUID) -> Row:
        outcome = self._outcomes[one]
        problem = outcome.problem
        error = None if problem is None else problems.document(problem, f"{self._many.path}/{one}")
        tag = None if self._asked.dry_run else outcome.etag
        return {"id": one, "status": outcome.status, "etag": tag, "error": error}

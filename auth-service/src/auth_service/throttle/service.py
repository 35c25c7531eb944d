"""Guessing passwords is slowed down: 10 failures for an account, 50 for an address, within 15 minutes.

The counts lie in PostgreSQL, one for all replicas. Five things are less obvious:

- An account with 10 failures is closed to the addresses that took part in them, not to everyone: otherwise
  whoever knows an email could keep its owner out. An address that is new to such an account has
  NEWCOMER_LIMIT tries; so somebody who guesses from many addresses gets few guesses from each.
- With STRANGER_LIMIT failures it is closed to all addresses but those from which somebody has logged in to it
  within KNOWN_FOR: so thousands of addresses together get no more guesses, and the owner still gets in from
  where they usually are.
- An attempt is recorded before the password is checked, and one that is not decided yet holds a place: parallel
  guesses cannot pass the limit together. Who finds all places held waits for one, so that many right log-ins
  at once are no failures.
- Each time that a limit is reached the window is twice as long, up to LONGEST_WINDOW, until a day without failures or
  a right password from there: otherwise whoever has patience tries a thousand passwords a day.
- An attempt that is not decided after a while (its process ended) counts as a failure.

An "address" is what one party holds: a whole /64 of IPv6.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import ceil
from typing import Any

from auth_service.throttle import repository
from chassis.core.addresses import network_of
from chassis.core.problems import TooManyRequests
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from contracts.auth import LoginFailed

WINDOW = timedelta(minutes=15)
LONGEST_WINDOW = timedelta(days=1)
ACCOUNT_LIMIT = 10
ADDRESS_LIMIT = 50
NEWCOMER_LIMIT = 3
STRANGER_LIMIT = 100
KNOWN_FOR = timedelta(days=90)

_DECIDED_WITHIN = timedelta(seconds=30)
_PATIENCE = 10.0
_PAUSE = 0.1


ANONYMOUS = Actor(None, "anonymous")


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that is recorded and not decided yet."""

    id: int
    account: str
    network: str


async def begin(database: Database, account: str, address: str) -> Attempt:
    """Record an attempt on an account, of a user or not; raise TooManyRequests when it is one too many."""
    network = network_of(address)
    clock = asyncio.get_running_loop()
    deadline = clock.time() + _PATIENCE
    while True:
        async with database.transaction() as connection:
            await repository.lock_attempts(connection, account, network)
            counts = await repository.attempt_counts(
                connection,
                account,
                network,
                window=WINDOW,
                longest=LONGEST_WINDOW,
                decided_within=_DECIDED_WITHIN,
                known_for=KNOWN_FOR,
                limits={
                    "account": ACCOUNT_LIMIT,
                    "newcomer": NEWCOMER_LIMIT,
                    "stranger": STRANGER_LIMIT,
                    "address": ADDRESS_LIMIT,
                },
            )
            if counts["closed_until"] is None and not counts["is_full"]:
                return Attempt(await repository.insert_attempt(connection, account, network), account, network)
        if counts["closed_until"] is not None:
            raise _refusal(counts["closed_until"], counts["now"])
        if clock.time() > deadline:
            raise _refusal(counts["now"], counts["now"])
        await asyncio.sleep(_PAUSE)


async def succeeded(connection: Connection, attempt: Attempt) -> None:
    """The password was right: forget the account's failures from this address, and know the address."""
    await _tell(connection, await repository.forget_attempts(connection, attempt.id, attempt.account, attempt.network))
    await repository.know_network(connection, attempt.account, attempt.network)


async def withdrawn(connection: Connection, attempt: Attempt) -> None:
    """It decided nothing: forget it alone."""
    await repository.delete_attempt(connection, attempt.id)


async def failed(connection: Connection, attempt: Attempt, failure: LoginFailed | None = None) -> None:
    """The password was wrong; the `failure` is told, or kept to be told with others like it."""
    await repository.fail_attempt(connection, attempt.id)
    if failure is None:
        return
    is_deferred = await repository.keep_untold(
        connection, attempt.id, attempt.account, attempt.network, failure.model_dump(), WINDOW
    )
    if not is_deferred:
        await _tell(connection, [failure.model_dump()])


async def tell_deferred(database: Database) -> None:
    """Record the failures that were deferred until no more could join them: an event an account and address."""
    async with database.transaction() as connection:
        deferred = await repository.take_untold(connection, WINDOW)
        for _, of_one in groupby(deferred, lambda one: one[:2]):
            await _tell(connection, [failure for *_, failure in of_one])


async def _tell(connection: Connection, failures: Sequence[Mapping[str, Any]]) -> None:
    """Record an event a reason for failures of one account from one address."""
    for reason in dict.fromkeys(failure["reason"] for failure in failures):
        alike = [failure for failure in failures if failure["reason"] == reason]
        failure = LoginFailed(**{**alike[0], "count": len(alike)})
        await outbox.record(connection, [NewEvent(failure, subject=failure.email, actor=ANONYMOUS)])


async def is_known(database: Database, address: str) -> bool:
    """Check whether somebody has logged in from the address within KNOWN_FOR."""
    async with database.connection() as connection:
        return await repository.is_known_network(connection, network_of(address), KNOWN_FOR)


async def forget_old(database: Database) -> None:
    """Delete the attempts that count no more, and the networks without a log-in for long."""
    await tell_deferred(database)
    async with database.connection() as connection:
        await repository.prune_attempts(connection, LONGEST_WINDOW)
        await repository.prune_known_networks(connection, KNOWN_FOR)


def _refusal(until: datetime, now: datetime) -> TooManyRequests:
    seconds = max(1, ceil((until - now).total_seconds()))
    return TooManyRequests(f"Too many failed attempts; try again in {ceil(seconds / 60)} min.", retry_after=seconds)

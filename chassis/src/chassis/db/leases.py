"""A queue in a table whose rows are leased: one worker at a time has a row, and others get it when that one dies.

The table has the columns `claim` (an id for all that is claimed at once), `claimed_until`, and `attempts` where these
count. A claim is made by the table's own UPDATE, of rows that are free and that it locks with SKIP LOCKED.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

from chassis.core.backoff import Backoff
from chassis.core.problems import StorageFull
from chassis.db.database import AWAY, OVERTAXED, Connection, Database

_log = logging.getLogger(__name__)

_HEARTBEAT = 4
"""Seconds between two renewals: some of them may fail before a lease of 15 seconds is over."""
_PATIENCE = 3
"""Seconds that a worker which is stopped spends on giving back."""
MAX_ATTEMPTS = 4
"""Of a row whose worker died each time."""
_QUIET = "interval '5 minutes'"
"""Before the last attempt: what ended the process may have been something else, and is over then."""


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of a table by its `key`, for so many seconds; `where`: which rows may be leased, for an index.

    `ends`: a row is given up after MAX_ATTEMPTS, the last of them after a quiet time.
    """

    table: str
    key: str
    seconds: int
    where: str = "true"
    counts_attempts: bool = True
    ends: bool = False

    def free(self, alias: str) -> str:
        """Return the condition that nobody has the row."""
        is_over = f"{alias}.claimed_until < now()"
        if self.ends:
            is_over += f" AND ({alias}.attempts <> {MAX_ATTEMPTS - 1} OR {alias}.claimed_until < now() - {_QUIET})"
        return f"({alias}.claimed_until IS NULL OR {is_over})"

    def taken(self, alias: str) -> str:
        """Return what the UPDATE that claims sets, with the parameter `claim`."""
        attempts = f", attempts = {alias}.attempts + 1" if self.counts_attempts else ""
        return f"claim = %(claim)s, claimed_until = {self.end}{attempts}"

    @property
    def end(self) -> str:
        """When a lease that begins or is renewed now is over."""
        return f"now() + interval '{self.seconds} seconds'"

    async def renew(self, connection: Connection, claim: UUID) -> None:
        """Have a claim begin anew."""
        # Without waiting for rows that others are changing: who locks many one by one may meet another who does.
        await self._update(connection, claim, f"claimed_until = {self.end}", "FOR UPDATE SKIP LOCKED")

    async def release(self, connection: Connection, claim: UUID) -> None:
        """Release a claim, so that others may take the rows at once; this attempt does not count."""
        attempts = ", attempts = greatest(attempts - 1, 0)" if self.counts_attempts else ""
        change = f"claim = NULL, claimed_until = now(){attempts}"
        await self._update(connection, claim, change, f"ORDER BY {self.key} FOR UPDATE")

    async def _update(self, connection: Connection, claim: UUID, change: str, lock: str) -> None:
        await connection.execute(
            f"UPDATE {self.table} SET {change} WHERE ({self.key}) IN"
            f" (SELECT {self.key} FROM {self.table} WHERE claim = %s AND {self.where} {lock})",
            (claim,),
        )

    @asynccontextmanager
    async def leased(self, database: Database, claim: UUID) -> AsyncIterator[None]:
        """Keep a claim for the time of the block.

        Cancelled, it gives the claim back; so it does when the database takes nothing, as soon as it does again. A
        worker that fails or dies leaves it to run out.
        """
        renewing = asyncio.create_task(self._keep_renewing(database, claim))
        try:
            yield
        except asyncio.CancelledError:
            try:
                async with asyncio.timeout(_PATIENCE), database.statement() as connection:
                    await self.release(connection, claim)
            except (*AWAY, TimeoutError) as error:
                _log.warning("A claim could not be given back and has to run out: %s", error)
            raise
        except (*AWAY, StorageFull) as error:
            if not isinstance(error, OVERTAXED):
                await self._give_back(database, claim)
            raise
        finally:
            renewing.cancel()

    async def _give_back(self, database: Database, claim: UUID) -> None:
        """Release a claim, however long that takes: that the database was away is no attempt of its holder."""
        backoff = Backoff()
        while True:
            try:
                async with database.statement() as connection:
                    await self.release(connection, claim)
            except AWAY:
                await backoff.wait()
            else:
                return

    async def _keep_renewing(self, database: Database, claim: UUID) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT)
            with suppress(*AWAY):
                async with database.connection() as connection:
                    await self.renew(connection, claim)

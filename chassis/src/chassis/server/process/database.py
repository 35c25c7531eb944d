"""Waiting for the database, which may come up later than the program, or have its schema migrated later."""

import asyncio
import logging
from contextlib import suppress

import psycopg
from psycopg.rows import dict_row
from psycopg_pool import PoolTimeout

from chassis.core.problems import Unavailable
from chassis.core.start_failure import StartFailure
from chassis.db import database_url, isolation
from chassis.db.database import Database
from chassis.db.readiness import check_schema

_log = logging.getLogger(__name__)
_LOOK_AGAIN = 1.0
_HOPELESS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "permission denied for database")
"""What PostgreSQL says about who one is and what one may do: waiting does not mend that."""


async def open_when_ready(database: Database, schema: str, *, patience: float) -> None:
    """Open the database; wait while it is not there or has an older schema than `schema`.

    Raises StartFailure when waiting does not help, or takes longer than `patience`, in seconds.
    """
    clock = asyncio.get_running_loop()
    end = clock.time() + patience
    while (reason := await _why_not(database.url, schema)) is not None:
        if clock.time() >= end:
            raise StartFailure(reason)
        _log.warning("%s Waiting.", reason)
        await asyncio.sleep(_LOOK_AGAIN)
    try:
        await database.open()
    except PoolTimeout as error:
        raise StartFailure(f"The database does not answer: {error}.") from None


async def _why_not(url: str, schema: str) -> str | None:
    """Return why the database cannot be used yet; None when it can. Raise StartFailure when waiting does not help."""
    try:
        async with await psycopg.AsyncConnection.connect(
            url, row_factory=dict_row, connect_timeout=5, autocommit=True
        ) as connection:
            # The user may read nothing by itself. Before the first migration there may be no role.
            with suppress(psycopg.errors.InvalidParameterValue):
                await connection.execute(f"SET ROLE {isolation.APP}")
            await check_schema(connection, schema)
    except psycopg.OperationalError as error:
        reason = database_url.reason(error)
        if any(words in reason for words in _HOPELESS):
            raise database_url.refusal(error) from None
        return f"The database cannot be reached: {reason}."
    except psycopg.ProgrammingError as error:
        raise database_url.refusal(error) from None
    except Unavailable as not_yet:
        return not_yet.detail
    return None

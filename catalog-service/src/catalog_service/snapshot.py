"""Several statements that see one state of the record."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from chassis.db.database import Connection, Database


@asynccontextmanager
async def snapshot(database: Database) -> AsyncIterator[Connection]:
    """A connection on which all statements see the record as it is at the first of them."""
    async with database.connection() as connection, connection.transaction():
        # What a report puts together of a large record is not written to files meanwhile.
        await connection.execute(
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL work_mem = '16MB'", prepare=False
        )
        yield connection

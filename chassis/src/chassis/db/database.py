"""One pool of PostgreSQL connections a service; doors own the commit, services take the connection."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Annotated, Any, NamedTuple

import orjson
import psycopg
from fastapi import Depends, Request
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import DiskFull
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from chassis.core import projects
from chassis.core.full_disks import Volume
from chassis.core.problems import Problem
from chassis.core.signals import Signal
from chassis.core.turns import TURN, let_others_in
from chassis.db import isolation
from chassis.db.refusals import TOO_MANY_CONNECTIONS, Stopped, is_of_full_storage
from chassis.db.storage import PROBE, Storage

Connection = psycopg.AsyncConnection[DictRow]

_MIGRATED = psycopg.errors.FeatureNotSupported
"""What PostgreSQL says of a prepared statement whose columns are others since a migration."""

AWAY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    PoolTimeout,
    psycopg.errors.ReadOnlySqlTransaction,
    _MIGRATED,
)
"""What is raised while the database cannot be reached or takes nothing: the work may be tried again as it is."""

OVERTAXED = (
    psycopg.errors.OutOfMemory,
    psycopg.errors.ConfigurationLimitExceeded,
    psycopg.errors.QueryCanceled,
)
"""Those of AWAY that the work itself may be to blame for."""

_TOO_MUCH = (psycopg.errors.ProgramLimitExceeded, psycopg.errors.StatementTooComplex)


class Unstorable(psycopg.DataError):
    """A value is larger than PostgreSQL can take: it is refused however often it is tried."""


_OPTIONS = {
    "TimeZone": "UTC",
    "statement_timeout": "60s",
    "idle_in_transaction_session_timeout": "120s",
    # A temporary table that is emptied and filled again takes new buffers each time, until its backend has them all.
    # With a quarter of it, statements over some hundred thousand rows find none that is free.
    "temp_buffers": "8MB",
    # One request, one core: a report that takes them all is waited for by everybody who asks for a list.
    "max_parallel_workers_per_gather": "0",
    # The same plans on every server: pages come from memory or from a disk without arms, and no query is so long that
    # it is worth compiling.
    "random_page_cost": "1.1",
    "jit": "off",
    "role": isolation.APP,
    isolation.SETTING: projects.NONE,
}

set_json_dumps(orjson.dumps)
set_json_loads(orjson.loads)


_NOT_WAITED = 1.0
_FIRST_ROWS = 8
"""That are made at once; how many next, the time shows that they take."""
_UNKNOWN = "?"
"""No scope: a connection in it enters one before it is used."""


class _ScopedConnection(psycopg.AsyncConnection[DictRow]):
    """A connection that knows which project it sees, see `chassis.core.projects.current`."""

    scope = projects.NONE


class PatientCursor(psycopg.AsyncCursor[DictRow]):
    """A cursor that lets others in while it makes many rows, or a few with long texts."""

    async def fetchall(self) -> list[DictRow]:
        """Return all rows that are left."""
        rows: list[DictRow] = []
        size = _FIRST_ROWS
        while True:
            began = time.perf_counter()
            part = await self.fetchmany(size)
            rows += part
            if len(part) < size:
                return rows
            spent = time.perf_counter() - began
            size = max(1, size // 2) if spent > TURN else size * 2 if spent < TURN / 4 else size
            await let_others_in()


class PoolUse(NamedTuple):
    """How many connections there may be, how many are idle, and how many wait for one."""

    size: int
    available: int
    waiting: int


class Database:
    """The service's own database.

    `commits` wakes its listeners after each commit that may have recorded events or work, `own_commits` after
    those of this process alone.
    """

    def __init__(
        self, url: str, *, pool_size: int = 8, project: str = projects.NONE, volume: Volume | None = None
    ) -> None:
        """`project` is that of connections which are taken outside of any.

        `volume` is that of the server's data, where this process sees it: of its reserve nothing is taken.
        """
        self.url = url
        self.storage = Storage(lambda: self.name, volume)
        self._project = project
        self.commits = Signal()
        self.own_commits = Signal()
        self._pool: AsyncConnectionPool[_ScopedConnection] = AsyncConnectionPool(
            url,
            connection_class=_ScopedConnection,
            min_size=1,
            max_size=pool_size,
            open=False,
            timeout=5,
            check=AsyncConnectionPool.check_connection,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "cursor_factory": PatientCursor,
                "prepare_threshold": 2,
                "options": " ".join(f"-c {name}={value}" for name, value in _OPTIONS.items()),
            },
        )

        # Idle connections: taking one from the pool costs half as much as a small query does.
        self._idle: list[_ScopedConnection] = []
        self._turns = asyncio.Semaphore(pool_size)
        self._size = pool_size
        self._wanted = 0
        """Connections in use, and those that somebody waits for."""

    @property
    def name(self) -> str:
        """The name that it has on its server."""
        return str(conninfo_to_dict(self.url).get("dbname", ""))

    async def open(self) -> None:
        """Connect; raise PoolTimeout when the database does not answer in time."""
        await self._pool.open(wait=True, timeout=15)

    async def close(self) -> None:
        """Release all connections."""
        while self._idle:
            await self._pool.putconn(self._idle.pop())
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection for reading, in the project that the caller works in: each statement stands alone."""
        scope = projects.current.get() or self._project
        self._wanted += 1
        try:
            async with self._turns:
                connection = self._idle_one(scope) or await self._new_one()
                try:
                    if connection.scope != scope:
                        await _enter(connection, scope)
                    yield connection
                except _TOO_MUCH as error:  # psycopg counts them among those of AWAY
                    raise Unstorable(f"{error.diag.message_primary}") from error
                except _MIGRATED:
                    await connection.close()
                    await self._discard_idle()
                    raise
                except psycopg.Error as error:
                    if is_of_full_storage(error):
                        self.storage.note_refusal(error)
                        if not isinstance(error, AWAY):  # of a quota it has no code
                            raise DiskFull(str(error)) from error
                    elif connection.broken and self.storage.volume_is_full:
                        raise self._stopped(error) from error
                    raise
                finally:
                    if connection.pgconn.transaction_status == TransactionStatus.IDLE:
                        self._idle.append(connection)
                    else:  # broken, or left in the middle of something: the pool mends or replaces it
                        if connection.broken:
                            await self._discard_idle()
                        await self._pool.putconn(connection)
        finally:
            self._wanted -= 1

    async def _new_one(self) -> _ScopedConnection:
        try:
            # A server that ended for want of room is not waited for: who asks is to be told.
            return await self._pool.getconn(timeout=_NOT_WAITED if self.storage.volume_is_full else None)
        except PoolTimeout as error:
            if self.storage.volume_is_full:
                raise self._stopped(error) from error
            # The pool does not say why there is none.
            with suppress(psycopg.InterfaceError):
                try:
                    await (await psycopg.AsyncConnection.connect(self.url, connect_timeout=2)).close()
                except psycopg.OperationalError as reason:
                    if is_of_full_storage(reason):
                        self.storage.note_refusal(reason)
                        raise
                    if any(words in str(reason) for words in TOO_MANY_CONNECTIONS):
                        raise psycopg.errors.TooManyConnections(str(reason)) from error
            raise

    def _stopped(self, error: Exception) -> Stopped:
        self.storage.note_refusal(error)
        return Stopped("The database is away, and its volume is full.")

    async def has_room(self) -> bool:
        """Check whether something can be stored; while it could not, that is tried anew, at most once a second."""
        if self.storage.volume_is_full:
            self.storage.note_refusal(DiskFull("No space is left but the reserve."))
        elif self.storage.is_to_be_looked_at():
            with suppress(*AWAY):
                async with self.connection() as connection, connection.transaction():
                    await connection.execute(PROBE)
                self.storage.note_room()
        return not self.storage.is_full

    @asynccontextmanager
    async def across(self) -> AsyncIterator[Connection]:
        """A connection that sees the rows of all projects, see `chassis.core.projects.across`."""
        with projects.across():
            async with self.connection() as connection:
                yield connection

    def use(self) -> PoolUse:
        """Return how much of the connections is in use now."""
        return PoolUse(self._size, max(0, self._size - self._wanted), max(0, self._wanted - self._size))

    def _idle_one(self, scope: str) -> _ScopedConnection | None:
        """Return the idle connection that was used last, of those that are in `scope` if there are any."""
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place].scope == scope:
                return self._idle.pop(place)
        return self._idle.pop() if self._idle else None

    async def _discard_idle(self) -> None:
        """Discard the other idle connections: when one is broken, the server is likely to have ended all."""
        while self._idle:
            connection = self._idle.pop()
            await connection.close()
            await self._pool.putconn(connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A transaction, committed when the block ends and rolled back when it raises."""
        self._check_room()
        async with self.connection() as connection, connection.transaction():
            yield connection
        await self._tell_commit()

    @asynccontextmanager
    async def statement(self) -> AsyncIterator[Connection]:
        """A connection for exactly one writing statement, which is a transaction by itself.

        It saves the round trips of BEGIN and COMMIT: half of what a small write costs.
        """
        self._check_room()
        async with self.connection() as connection:
            yield connection
        await self._tell_commit()

    def _check_room(self) -> None:
        try:
            self.storage.check()
        except DiskFull as error:
            self.storage.note_refusal(error)
            raise

    async def _tell_commit(self) -> None:
        self.own_commits.set()
        self.commits.set()
        if self.storage.is_full:
            await self.has_room()


async def _enter(connection: _ScopedConnection, scope: str) -> None:
    # Who is cancelled meanwhile leaves a connection of which nobody knows whether it has changed.
    connection.scope = _UNKNOWN
    await connection.execute(isolation.ENTER, isolation.state(scope))
    connection.scope = scope


@asynccontextmanager
async def in_project(connection: Connection, key: str) -> AsyncIterator[None]:
    """Work in a project within, on a connection whose transaction may see others before and after.

    Afterwards the connection is in this project until it enters another one, or its transaction ends.
    """
    with projects.within(key):
        await connection.execute(isolation.ENTER_WITHIN_TRANSACTION, isolation.state(key))
        yield


@asynccontextmanager
async def in_another_project(connection: Connection, key: str) -> AsyncIterator[None]:
    """The same, and in the caller's project again afterwards."""
    before = projects.current.get()
    async with in_project(connection, key):
        yield
    await connection.execute(isolation.ENTER_WITHIN_TRANSACTION, isolation.state(before))


async def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


Db = Annotated[Database, Depends(_database)]


@contextmanager
def map_constraint_violations(by_constraint: Mapping[str, Problem]) -> Iterator[None]:
    """Turn the violation of a constraint into the problem that it means, by the constraint's name."""
    try:
        yield
    except psycopg.IntegrityError as error:
        problem = by_constraint.get(error.diag.constraint_name or "")
        if problem is None:
            raise
        raise problem from None


def columns(row: Mapping[str, Any]) -> str:
    """Return the column list of an INSERT for a row whose keys are column names: `a, b`."""
    return ", ".join(row)


def placeholders(row: Mapping[str, Any]) -> str:
    """Return the values list that belongs to `columns`: `%(a)s, %(b)s`."""
    return ", ".join(f"%({name})s" for name in row)

"""What PostgreSQL refuses although it answers: for want of room, memory or connections, or where it is read-only."""

from collections.abc import Callable

import psycopg

from chassis.core.full_disks import is_full
from chassis.core.problems import Problem, StorageFull, TimedOut, Unavailable

TOO_MANY_CONNECTIONS = ("too many clients", "too many connections", "remaining connection slots")
"""How PostgreSQL says it to who connects, which comes without a code."""


class Stopped(psycopg.OperationalError):
    """The database is away while its volume is full: whether what was asked for last was stored is not known."""


def is_of_full_storage(error: BaseException) -> bool:
    """Check whether PostgreSQL has no room to store something."""
    if isinstance(error, (psycopg.errors.DiskFull, Stopped)):
        return True
    # Of a quota it says so in words alone.
    return isinstance(error, psycopg.Error) and not isinstance(error, psycopg.DataError) and is_full(error)


def problem_of(error: Exception) -> Problem | None:
    """Return what is wrong where trying again does not help; None for all else."""
    if isinstance(error, Stopped):
        return StorageFull(
            "The volume of the database is full and the database has stopped: who runs Traceline frees space on it, and"
            " it goes on by itself. See then whether this request was stored before you send it again."
        )
    if is_of_full_storage(error):
        return StorageFull(
            "The volume of the database is full, and nothing of this request was stored: who runs Traceline frees space"
            " on it. To send it again helps only then."
        )
    made = next((made for kind, made in _OTHERS.items() if isinstance(error, kind)), None)
    return None if made is None else made()


def _out_of_memory() -> Problem:
    return Unavailable(
        "The database has too little memory for this request, and nothing of it was stored: ask for less at once, or"
        " who runs Traceline gives PostgreSQL more.",
        code="database_out_of_memory",
    )


def too_many_connections() -> Problem:
    """Return the problem of a server that takes no further connection."""
    return Unavailable(
        "The database takes no more connections, and nothing of this request was stored: who runs Traceline raises"
        " max_connections of PostgreSQL, or lowers DATABASE_POOL_SIZE.",
        code="too_many_connections",
        retry_after=5,
    )


def _read_only() -> Problem:
    return Unavailable(
        "The database takes no changes, and nothing of this request was stored: it is a standby, or was set read-only."
        " Who runs Traceline lets DATABASE_URL lead to the primary, or ends that.",
        code="database_read_only",
        retry_after=5,
    )


def _limited() -> Problem:
    return Unavailable(
        "The database is set to give no request as much as this one needs, and nothing of it was stored: ask for less"
        " at once, or who runs Traceline raises the limit that the log names.",
        code="database_limit",
    )


def _took_too_long() -> Problem:
    return TimedOut("The database needs longer for this request than it may take; ask for less at once.")


def _broken() -> Problem:
    return Unavailable(
        "The database cannot read or write its files, and nothing of this request was stored: who runs Traceline looks"
        " into PostgreSQL's log.",
        code="database_files",
    )


_OTHERS: dict[type[Exception], Callable[[], Problem]] = {
    psycopg.errors.OutOfMemory: _out_of_memory,
    psycopg.errors.TooManyConnections: too_many_connections,
    psycopg.errors.ReadOnlySqlTransaction: _read_only,
    psycopg.errors.ConfigurationLimitExceeded: _limited,
    psycopg.errors.QueryCanceled: _took_too_long,
    psycopg.errors.IoError: _broken,
    psycopg.errors.DataCorrupted: _broken,
    psycopg.errors.IndexCorrupted: _broken,
}

"""Errors of a DATABASE_URL that leads nowhere, in sentences."""

import psycopg

from chassis.core.start_failure import StartFailure
from chassis.db import isolation


def refusal(error: psycopg.Error) -> StartFailure:
    """Return the failure that an error of connecting means when waiting does not help."""
    if isinstance(error, psycopg.OperationalError):
        return StartFailure(f"DATABASE_URL does not open the database: {reason(error)}.")
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return StartFailure(
            f"The user of DATABASE_URL may not use the database: {reason(error)}. Grant it {isolation.APP} and"
            f" {isolation.ACROSS}, as deploy/docker/databases.sql does."
        )
    # Not what the error says: that may show the password.
    return StartFailure(
        "DATABASE_URL is no address of a PostgreSQL database; write postgresql://user:password@host:port/name."
    )


def reason(error: psycopg.Error) -> str:
    """Return the first line of what PostgreSQL or its client says."""
    return str(error).strip().partition("\n")[0]

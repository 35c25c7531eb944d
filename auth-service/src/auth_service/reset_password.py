"""Gives an account a random password: `python -m auth_service.reset_password EMAIL`, with the service's DATABASE_URL.

It is printed once, has to be changed at the next log-in, and ends all sessions and tokens of the account.
"""

import argparse
import asyncio
import secrets
import sys

from psycopg_pool import PoolTimeout
from pydantic_core import PydanticCustomError

from auth_service.password_reset import service
from auth_service.second_factor import service as second_factors
from auth_service.users import repository as users
from auth_service.users.emails import parse_email
from auth_service.users.passwords import Passwords
from chassis.core.settings import DatabaseSettings, ServiceSettings, read
from chassis.core.start_failure import StartFailure
from chassis.db.database import Database
from chassis.messaging.events import SYSTEM
from chassis.observability import logs


async def reset(settings: DatabaseSettings | ServiceSettings, email: str, *, second_factor: bool = False) -> str | None:
    """Return the new password of an account; None when there is no such account.

    With `second_factor`, that is removed, too.
    """
    database = Database(settings.database_url, pool_size=1)
    await database.open()
    password = secrets.token_urlsafe(15)
    try:
        was_there = await service.by_operator(database, Passwords(), parse_email(email), password, SYSTEM)
        if was_there and second_factor:
            async with database.connection() as connection:
                found = await users.credentials(connection, parse_email(email))
            if found is not None:
                await second_factors.take_away(database, found["id"], SYSTEM)
    finally:
        await database.close()
    return password if was_there else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m auth_service.reset_password", description="Reset a password.")
    parser.add_argument("email", help="of the account")
    parser.add_argument("--second-factor", action="store_true", help="remove the second factor, too")
    arguments = parser.parse_args()
    email = arguments.email
    logs.configure("reset-password")
    try:
        password = asyncio.run(reset(read(DatabaseSettings), email, second_factor=arguments.second_factor))
    except (StartFailure, PydanticCustomError) as failure:
        raise SystemExit(str(failure)) from None
    except PoolTimeout:
        raise SystemExit("The database of DATABASE_URL does not answer: nothing was changed.") from None
    if password is None:
        raise SystemExit(f"There is no account with the email {email}: nothing was changed.")
    sys.stdout.write(f"Log in as {email}, password {password} (shown this once, and to be changed first).\n")

"""Showing the password once more, for what a stolen session shall not do."""

from dataclasses import dataclass

from auth_service.throttle import service as throttle
from auth_service.throttle.service import Attempt
from auth_service.users import repository as users
from auth_service.users.passwords import Passwords
from chassis.core.identity import Identity
from chassis.core.problems import Unauthenticated
from chassis.db.database import Database
from contracts.auth import WRONG_CURRENT_PASSWORD, LoginFailed


@dataclass(frozen=True, slots=True)
class Shown:
    """A right password; the `attempt` is still to be decided."""

    user_id: int
    password_hash: str
    attempt: Attempt


async def check(
    database: Database, passwords: Passwords, identity: Identity, address: str, current_password: str
) -> Shown:
    """Return what was shown; raise Unauthenticated invalid_credentials when the password is not the caller's.

    And TooManyRequests: with a stolen token guessing is no faster than at the log-in.
    """
    attempt = await throttle.begin(database, identity.email, address)
    async with database.connection() as connection:
        found = await users.credentials(connection, identity.email)
    if found is None or not await passwords.matches(current_password, found["password_hash"]):
        async with database.transaction() as connection:
            failure = LoginFailed(email=identity.email, address=address, reason=WRONG_CURRENT_PASSWORD)
            await throttle.failed(connection, attempt, failure)
        raise wrong_password()
    return Shown(found["id"], found["password_hash"], attempt)


def wrong_password() -> Unauthenticated:
    """Return the problem of a password that is not the caller's."""
    return Unauthenticated("The current password is wrong.", code="invalid_credentials")

"""Has a new signing key take over: `python -m auth_service.rotate_keys`, with the service's DATABASE_URL and, where
it has one, its DATA_ENCRYPTION_KEY.

With `--at-once` all other keys are forgotten, and every token that they signed: for a key that others may know.
"""

import argparse
import asyncio

from psycopg_pool import PoolTimeout

from auth_service.settings import Settings, cipher_of
from auth_service.signing_keys import service
from chassis.core.settings import DatabaseSettings, OptionalSecrets, read
from chassis.core.start_failure import StartFailure
from chassis.db.database import Database
from chassis.observability import logs


class KeySettings(DatabaseSettings):
    """What signing keys are kept in and encrypted by."""

    data_encryption_key: OptionalSecrets = None


async def rotate(settings: KeySettings | Settings, *, at_once: bool = False) -> None:
    """Rotate in the database of these settings."""
    cipher = cipher_of(settings.data_encryption_key)
    database = Database(settings.database_url, pool_size=1)
    await database.open()
    try:
        await (service.replace if at_once else service.rotate)(database, cipher)
    finally:
        await database.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m auth_service.rotate_keys", description="Take a new signing key.")
    parser.add_argument("--at-once", action="store_true", help="a key has leaked: end every token")
    arguments = parser.parse_args()
    logs.configure("rotate-keys")
    try:
        asyncio.run(rotate(read(KeySettings), at_once=arguments.at_once))
    except StartFailure as failure:
        raise SystemExit(str(failure)) from None
    except PoolTimeout:
        raise SystemExit("The database of DATABASE_URL does not answer: nothing was changed.") from None

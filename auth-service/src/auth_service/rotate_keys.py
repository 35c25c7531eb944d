"""Has a new signing key take over: `python -m auth_service.rotate_keys`, with the DATABASE_URL of the service.

With `--at-once` all other keys are forgotten, and every token that they signed: for a key that others may know.
"""

import argparse
import asyncio

from psycopg_pool import PoolTimeout

from auth_service.signing_keys import service
from chassis.core.settings import DatabaseSettings, ServiceSettings, read
from chassis.core.start_failure import StartFailure
from chassis.db.database import Database
from chassis.observability import logs


async def rotate(settings: DatabaseSettings | ServiceSettings, *, at_once: bool = False) -> None:
    """Rotate in the database of these settings."""
    database = Database(settings.database_url, pool_size=1)
    await database.open()
    try:
        await (service.replace(database) if at_once else service.rotate(database))
    finally:
        await database.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m auth_service.rotate_keys", description="Take a new signing key.")
    parser.add_argument("--at-once", action="store_true", help="a key has leaked: end every token")
    arguments = parser.parse_args()
    logs.configure("rotate-keys")
    try:
        asyncio.run(rotate(read(DatabaseSettings), at_once=arguments.at_once))
    except StartFailure as failure:
        raise SystemExit(str(failure)) from None
    except PoolTimeout:
        raise SystemExit("The database of DATABASE_URL does not answer: nothing was changed.") from None

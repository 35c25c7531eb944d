"""Has a new signing key take over: `python -m auth_service.rotate_keys`, with the settings of the service."""

import asyncio

from auth_service.settings import Settings
from auth_service.signing_keys import service
from chassis import logs
from chassis.database import Database


async def rotate(settings: Settings) -> None:
    """Rotate in the database of these settings."""
    database = Database(settings.database_url, pool_size=1)
    await database.open()
    try:
        await service.rotate(database)
    finally:
        await database.close()


if __name__ == "__main__":
    logs.configure()
    asyncio.run(rotate(Settings()))

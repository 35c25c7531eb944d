"""An event that tests record, and its effects: rows of the table `effects`."""

from typing import Any

from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, NewEvent, Received
from chassis.messaging.payloads import Payload

POISON = "poison"


class Happened(Payload):
    wire_name = "test.thing.happened"
    what: str


async def apply_all(connection: Connection, events: list[Received[Any]]) -> None:
    for event in events:
        await connection.execute("INSERT INTO effects (what) VALUES (%s)", (event.data.what,))


async def apply(connection: Connection, events: list[Received[Any]]) -> None:
    """As `apply_all`, but for what is poison."""
    for event in events:
        if event.data.what == POISON:
            raise RuntimeError("this one never works\nbecause it is poison")
        await apply_all(connection, [event])


async def record(database: Database, *whats: str) -> None:
    async with database.transaction() as connection:
        await outbox.record(connection, [NewEvent(Happened(what=what), "1", SYSTEM) for what in whats])


async def effects(database: Database) -> list[str]:
    async with database.connection() as connection:
        rows = await (await connection.execute("SELECT what FROM effects ORDER BY id")).fetchall()
    return [row["what"] for row in rows]

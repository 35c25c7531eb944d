"""Table `embedding_model`: one row, the model that workers compute with, and whether its vectors are in use."""

from typing import NamedTuple

from chassis.db.database import Connection
from chassis.db.rows import fetch_only, fetch_value


class Declared(NamedTuple):
    """The model that workers compute with, and whether its vectors are in use."""

    model: str | None
    in_use: bool


async def declared(connection: Connection) -> Declared:
    """Return the model."""
    return await fetch_only(connection, Declared, "SELECT model, in_use FROM embedding_model")


async def declare(connection: Connection, model: str | None) -> bool:
    """Have workers compute with this model, or none; return whether another one's vectors were in use until now."""
    return bool(
        await fetch_value(
            connection,
            "UPDATE embedding_model m SET model = %(model)s, in_use = false FROM embedding_model before"
            " WHERE m.model IS DISTINCT FROM %(model)s RETURNING before.in_use",
            {"model": model},
        )
    )


async def use(connection: Connection) -> None:
    """Use the vectors of the model from now on."""
    await connection.execute("UPDATE embedding_model SET in_use = true")

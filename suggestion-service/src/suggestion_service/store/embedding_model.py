"""Table `embedding_model`: one row of the installation, the model that workers compute with."""

from typing import NamedTuple

from chassis.db.database import Connection
from chassis.db.rows import fetch_only, fetch_value

_DECLARED = """
SELECT m.model, m.model IS NOT NULL AND EXISTS (SELECT FROM embeddings_in_use u WHERE u.model = m.model) AS in_use
FROM embedding_model m
"""


class Declared(NamedTuple):
    """The model that workers compute with, and whether its vectors are in use in the project."""

    model: str | None
    in_use: bool


async def declared(connection: Connection) -> Declared:
    """Return the model."""
    return await fetch_only(connection, Declared, _DECLARED)


async def declare(connection: Connection, model: str | None) -> bool:
    """Have workers compute with this model, or none; return whether that is another one than until now."""
    return bool(
        await fetch_value(
            connection,
            "UPDATE embedding_model SET model = %(model)s, in_use = false WHERE model IS DISTINCT FROM %(model)s"
            " RETURNING true",
            {"model": model},
        )
    )

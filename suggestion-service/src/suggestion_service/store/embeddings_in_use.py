"""Table `embeddings_in_use`: at most one row a project, the model whose vectors hybrid scores are made of."""

from chassis.db.database import Connection
from chassis.db.rows import fetch_column


async def use(connection: Connection, model: str) -> None:
    """Use the vectors of the model from now on."""
    await connection.execute(
        "INSERT INTO embeddings_in_use (model) VALUES (%s)"
        " ON CONFLICT (project_id) DO UPDATE SET model = excluded.model",
        (model,),
    )


async def forget(connection: Connection) -> list[str]:
    """Use no vectors any more; return the projects in which there were some in use, of those that are seen."""
    return await fetch_column(connection, "DELETE FROM embeddings_in_use RETURNING project_id")

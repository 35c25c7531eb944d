"""Table `corpus_head`: one row a project, the number of the last change of what scoring reads."""

from typing import NamedTuple

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_value

MOVE = """
    INSERT INTO corpus_head (only_row, head) VALUES (true, 1)
    ON CONFLICT (project_id, only_row) DO UPDATE SET head = corpus_head.head + 1 RETURNING head
"""
"""To stand in a CTE beside the change that `head` numbers. The first change of a project makes its row."""


class Head(NamedTuple):
    """How far the copy of a project is."""

    project: str
    head: int


async def lock(connection: Connection) -> None:
    """Wait for events that are being applied, and keep others out until the transaction ends."""
    await connection.execute("SELECT head FROM corpus_head FOR UPDATE")


async def move(connection: Connection) -> None:
    """Have those who follow the corpus look, although no item has changed."""
    await connection.execute(MOVE)


async def heads(connection: Connection) -> list[Head]:
    """Return how far the copies of the projects are that have ever had an item; those that the connection sees."""
    query = "SELECT project_id AS project, head FROM corpus_head ORDER BY project_id"
    return await fetch_all(connection, Head, query)


async def known_to_rebuild(connection: Connection) -> list[str]:
    """Return the projects that have items in the real corpus or in the temporary one beside it."""
    return await fetch_column(
        connection,
        "SELECT project_id FROM public.corpus_head UNION SELECT project_id FROM pg_temp.corpus_head ORDER BY 1",
    )


async def lock_real(connection: Connection) -> int:
    """Lock the head of the real corpus, beside which there is a temporary one; return the number of the next change."""
    await connection.execute("INSERT INTO public.corpus_head (only_row, head) VALUES (true, 0) ON CONFLICT DO NOTHING")
    return int(await fetch_value(connection, "SELECT head + 1 FROM public.corpus_head FOR UPDATE"))


async def move_real(connection: Connection, change: int) -> None:
    """Set the head of the real corpus."""
    await connection.execute("UPDATE public.corpus_head SET head = %s", (change,))

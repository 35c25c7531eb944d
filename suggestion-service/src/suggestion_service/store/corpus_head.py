"""Table `corpus_head`: one row, the number of the last change of what scoring reads."""

from chassis.db.database import Connection
from chassis.db.rows import fetch_value

MOVE = "UPDATE corpus_head SET head = head + 1 RETURNING head"
"""To stand in a CTE beside the change that `head` numbers."""


async def lock(connection: Connection) -> None:
    """Wait for events that are being applied, and keep others out until the transaction ends."""
    await connection.execute("SELECT head FROM corpus_head FOR UPDATE")


async def move(connection: Connection) -> None:
    """Have those who follow the corpus look, although no item has changed."""
    await connection.execute(MOVE)


async def prepare_rebuild(connection: Connection) -> None:
    """Put a head to count from into the temporary corpus."""
    await connection.execute("INSERT INTO pg_temp.corpus_head VALUES (true, 0)")


async def lock_real(connection: Connection) -> int:
    """Lock the head of the real corpus, beside which there is a temporary one; return the number of the next change."""
    return int(await fetch_value(connection, "SELECT head + 1 FROM public.corpus_head FOR UPDATE"))


async def move_real(connection: Connection, change: int) -> None:
    """Set the head of the real corpus."""
    await connection.execute("UPDATE public.corpus_head SET head = %s", (change,))

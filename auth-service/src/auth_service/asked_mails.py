"""The SQL of mails that somebody asked for. What is in them is made when they are sent: no secret waits here."""

from datetime import timedelta

from psycopg.rows import DictRow

from chassis.db.database import Connection

RESET = "password_reset"
"""A kind of mail: with a link by which a password is reset."""


REGISTRATION = "registration"
"""A kind of mail: with a link by which somebody who registered shows that the address is theirs."""


async def ask(connection: Connection, kind: str, email: str) -> None:
    """Ask for a mail, with one statement: whether anybody has this email, the worker finds out."""
    await connection.execute("INSERT INTO asked_mails (kind, email) VALUES (%s, %s)", (kind, email))


async def lock_next(connection: Connection) -> DictRow | None:
    """Lock the mail that is due for the longest until the transaction ends."""
    cursor = await connection.execute(
        "SELECT id, kind, email, tries FROM asked_mails WHERE due_at <= now() ORDER BY due_at LIMIT 1"
        " FOR UPDATE SKIP LOCKED"
    )
    return await cursor.fetchone()


async def delete(connection: Connection, mail_id: int) -> None:
    """Delete what was sent, or is for nobody."""
    await connection.execute("DELETE FROM asked_mails WHERE id = %s", (mail_id,))


async def put_off(connection: Connection, mail_id: int, pause: timedelta) -> None:
    """Have another try made later."""
    await connection.execute(
        "UPDATE asked_mails SET tries = tries + 1, due_at = now() + %s WHERE id = %s", (pause, mail_id)
    )

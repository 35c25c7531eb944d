"""The commands for messages that could not be applied."""

import click

from chassis.admin import connections, output, parked
from chassis.admin.running import json_option, running


@click.group("parked")
def parked_commands() -> None:
    """Messages that could not be applied: waiting to be tried again, or parked."""


@parked_commands.command("list")
@json_option
@running
async def list_parked(in_json: bool) -> None:
    """List the messages that could not be applied, the oldest first."""
    async with connections.database() as connection:
        rows = await parked.failed(connection)
    if in_json:
        output.as_json(rows)
        return
    output.as_table(
        [
            (
                row["id"],
                row["wire_name"] or "(unreadable)",
                row["event_id"],
                output.age(row["age_seconds"]),
                row["attempts"],
                row["state"],
                output.first_line(row["error"]),
            )
            for row in rows
        ],
        *("ID", "EVENT", "EVENT ID", "AGE", "ATTEMPTS", "STATE", "ERROR"),
    )


@parked_commands.command("show")
@click.argument("message_id", metavar="ID", type=int)
@running
async def show(message_id: int) -> None:
    """Show one message whole, with its error, as JSON."""
    async with connections.database() as connection:
        output.as_json(await parked.find(connection, message_id))


@parked_commands.command("retry")
@click.argument("ids", metavar="ID...", type=int, nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every message of the list.")
@running
async def retry(ids: tuple[int, ...], everything: bool) -> None:
    """Have the running worker try messages again, now and as if for the first time."""
    if bool(ids) == everything:
        raise click.UsageError("Give the ids of messages, or --all.")
    async with connections.database() as connection:
        if everything:
            count = await parked.retry_all(connection)
        else:
            await parked.retry(connection, ids)
            count = len(set(ids))
    click.echo(f"The worker tries {_messages(count)} again.")


@parked_commands.command("drop")
@click.argument("ids", metavar="ID...", type=int, nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@running
async def drop(ids: tuple[int, ...], yes: bool) -> None:
    """Discard messages: they are never applied."""
    if not yes:
        click.confirm(f"Drop {_messages(len(set(ids)))} for good?", abort=True)
    async with connections.database() as connection:
        await parked.drop(connection, ids)
    click.echo(f"Dropped {_messages(len(set(ids)))}.")


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"

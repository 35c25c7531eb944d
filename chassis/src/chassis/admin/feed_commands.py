"""The commands for how far feeds are published and received."""

from contextlib import AsyncExitStack

import click

from chassis.admin import connections, output, positions
from chassis.admin.running import json_option, running
from chassis.admin.settings import address_of
from chassis.messaging import pruning, relay
from chassis.messaging.inbox import failed_counts
from chassis.messaging.rebuild import ReadFeed


@click.command()
@json_option
@running
async def feed(in_json: bool) -> None:
    """Show the feed's head, how far it is published, received and pruned, and how far those of others are received."""
    async with connections.database() as connection, AsyncExitStack() as opened:

        async def feed_of(source: str) -> ReadFeed | None:
            if address_of(source) is None:
                return None
            return await opened.enter_async_context(connections.feed_of(source))

        own = await relay.progress(connection)
        progress = await pruning.progress(connection)
        received = await positions.inboxes(connection, feed_of)
        failed = await failed_counts(connection)
    if in_json:
        output.as_json({"feed": own | progress, "inbox": received, "kept": failed})
        return
    output.as_table(
        [
            (
                own["head"],
                own["unnumbered"],
                own["relay_position"],
                own["lag"],
                output.age(own["lag_seconds"]),
                progress["pruned"],
            )
        ],
        *("HEAD", "UNNUMBERED", "PUBLISHED", "LAG", "AGE", "PRUNED"),
    )
    if progress["consumers"]:
        click.echo()
        output.as_table(
            [(row["consumer"], row["position"], output.age(row["told_seconds_ago"])) for row in progress["consumers"]],
            *("CONSUMER", "HAS RECEIVED", "TOLD SO"),
        )
    if received:
        click.echo()
        output.as_table(
            [
                (
                    row["source"],
                    row["head"],
                    row["position"],
                    row["lag"],
                    output.age(row["lag_seconds"]),
                    row["problem"] or "",
                )
                for row in received
            ],
            *("SOURCE", "HEAD", "RECEIVED", "LAG", "AGE", ""),
        )
    click.echo(f"\nKept with an error: {failed['waiting']:,} waiting to be tried again, {failed['parked']:,} parked.")


@click.command()
@click.option("--after", type=click.IntRange(min=0), required=True, help="The place in the feed; 0 for all of it.")
@running
async def replay(after: int) -> None:
    """Have the relay publish the feed again from a place on. Consumers drop what they know."""
    async with connections.database() as connection:
        again = await positions.set_relay_back(connection, after)
    click.echo(f"The relay publishes again what follows event {after:,}: {again:,} published before.")


@click.command()
@click.argument("source")
@running
async def reread(source: str) -> None:
    """Have the worker read the feed of SOURCE (catalog, ...) again from its beginning, within half a minute.

    For after SOURCE was restored to an older state than was received here. What the inbox knows does nothing.
    """
    async with connections.database() as connection:
        before = await positions.forget_position(connection, source)
    click.echo(f"The worker reads the feed of {source} again, which it had received up to event {before:,}.")

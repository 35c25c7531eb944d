"""The command that rebuilds a copy; the service's module `copy` says what that is."""

import importlib

import click

from chassis.admin import connections, output
from chassis.admin.running import Refused, json_option, running
from chassis.messaging import rebuild
from chassis.messaging.rebuild import Copy


@click.command("rebuild")
@click.argument("package")
@json_option
@running
async def rebuild_copy(package: str, in_json: bool) -> None:
    """Rebuild the copy that the service PACKAGE (suggestion_service, ...) keeps, from its source's feed."""
    copy = _copy_of(package)
    async with connections.feed_of(copy.source) as read_feed, connections.database() as connection:
        rebuilt = await rebuild.rebuild(connection, copy, read_feed)
    if in_json:
        output.as_json(rebuilt)
        return
    corrected = ", ".join(f"{count:,} of {table}" for table, count in rebuilt.corrected.items())
    click.echo(
        f"Rebuilt the copy of {copy.source} as of event {rebuilt.reach.position:,} of {rebuilt.reach.head:,}."
        f" Rows put right: {corrected}."
    )
    if rebuilt.skipped:
        click.echo(f"{rebuilt.skipped:,} events could not be applied: see the warnings above.", err=True)


def _copy_of(package: str) -> Copy:
    name = f"{package}.copy"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in {package, name}:
            raise
        raise Refused(f"{package} is no service that keeps a copy: there is no module {name}.") from None
    copy: Copy = module.new_copy()
    return copy

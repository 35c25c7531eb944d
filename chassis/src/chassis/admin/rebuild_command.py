"""The command that rebuilds a copy; the service's module `read_model` says what that is."""

import importlib

import click

from chassis.admin import connections, output
from chassis.admin.running import Refused, json_option, running
from chassis.core.wording import counted
from chassis.messaging import rebuild
from chassis.messaging.rebuild import ReadModel


@click.command("rebuild")
@click.argument("package")
@json_option
@running
async def rebuild_copy(package: str, in_json: bool) -> None:
    """Rebuild the copy that the service PACKAGE (suggestion_service, ...) keeps, from its source's feed."""
    model = _read_model_of(package)
    async with connections.feed_of(model.source) as read_feed, connections.database() as connection:
        rebuilt = await rebuild.rebuild(connection, model, read_feed)
    if in_json:
        output.as_json(rebuilt)
        return
    corrected = ", ".join(f"{count:,} of {table}" for table, count in rebuilt.corrected.items())
    click.echo(
        f"Rebuilt the copy of {model.source} as of event {rebuilt.reach.position:,} of {rebuilt.reach.head:,}."
        f" Rows put right: {corrected}."
    )
    if rebuilt.skipped:
        click.echo(f"{counted(rebuilt.skipped, 'event')} could not be applied: see the warnings above.", err=True)


def _read_model_of(package: str) -> ReadModel:
    name = f"{package}.read_model"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in {package, name}:
            raise
        raise Refused(f"{package} is no service that keeps a copy: there is no module {name}.") from None
    model: ReadModel = module.new_read_model()
    return model

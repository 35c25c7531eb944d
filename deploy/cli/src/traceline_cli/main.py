"""The command `traceline`."""

import time
from typing import Any

import click
from click.shell_completion import get_completion_class

from traceline_cli import __version__, login
from traceline_cli.context import TRIES, Context, log_in, pass_context
from traceline_cli.exchange import export, import_file
from traceline_cli.failures import Exit, Failure
from traceline_cli.gate import gate
from traceline_cli.login import Kept
from traceline_cli.results import results
from traceline_cli.terminal import Terminal

_WITHIN = 1800.0


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="traceline")
@click.option("--url", envvar="TRACELINE_URL", help="Where Traceline is, such as https://traceline.example.com.")
@click.option("--project", envvar="TRACELINE_PROJECT", metavar="KEY", help="The project; without it MAIN.")
@click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document.")
@click.option(
    "--tries", type=click.IntRange(1, 20), default=TRIES, show_default=True, help="How often a call is tried."
)
@click.pass_context
def main(context: click.Context, url: str | None, project: str | None, *, as_json: bool, tries: int) -> None:
    """Traceline: which requirement is covered by which test, and whether that holds.

    TRACELINE_TOKEN is an API token for pipelines; TRACELINE_EMAIL and TRACELINE_PASSWORD log in for one command.

    Exit codes: 0 done or passed, 1 not passed, 2 wrong use, 3 not reachable or not let in, 4 refused, 5 timed out.
    """
    context.obj = Context(url, project, tries, Terminal(as_json))


@main.command("login")
@click.option("--email", prompt=True)
@click.option("--password", prompt=True, hide_input=True, envvar="TRACELINE_PASSWORD")
@pass_context
def log_in_here(context: Context, email: str, password: str) -> None:
    """Log in and keep that until it ends, in a file that nobody else can read."""
    if context.url is None:
        raise click.UsageError("Say where: traceline --url https://... login, or TRACELINE_URL.")
    api = context.at(context.url, None)
    token, seconds = log_in(api, email, password)
    file = login.place()
    login.keep(Kept(api.url, token, time.time() + seconds), file)
    context.terminal.answer({"file": str(file), "seconds": seconds}, f"Logged in for {seconds // 60} minutes.")


@main.command()
@click.option("--algorithm", type=click.Choice(["tfidf", "keyword", "hybrid"]))
@click.option("--threshold", type=click.FloatRange(0, 1))
@click.option("--wait", type=float, default=_WITHIN, show_default=True, help="Seconds.")
@pass_context
def suggest(context: Context, algorithm: str | None, threshold: float | None, wait: float) -> None:
    """Have links suggested for all requirements, and wait until it is done."""
    api = context.api()
    with context.terminal.progress("suggestions") as look:
        asked = api.post("/suggestions/generate", params={"algorithm": algorithm, "threshold": threshold})
        run = api.follow(asked, within=wait, look=look)
    if run.get("status") in {"failed", "cancelled"}:
        raise Failure(Exit.REFUSED, f"The run is {run['status']}: {run.get('error') or 'somebody ended it'}.")
    context.terminal.answer(run, f"{run['suggestions_created']} suggestions made of {run['pairs_analyzed']} pairs.")


@main.group()
def project() -> None:
    """The projects of the installation."""


@project.command("list")
@pass_context
def list_projects(context: Context) -> None:
    """List the projects that you may see."""
    found = context.api().call("GET", "/api/v1/projects", params={"limit": 500}).json()
    context.terminal.answer(found["items"], *(_line(one) for one in found["items"]))


@project.command("show")
@click.argument("key")
@pass_context
def show_project(context: Context, key: str) -> None:
    """Show one project."""
    found = context.api().call("GET", f"/api/v1/projects/{key}").json()
    context.terminal.answer(found, _line(found), *([found["description"]] if found["description"] else []))


@project.command("create")
@click.argument("key")
@click.option("--name", help="By default the key.")
@click.option("--description", default="")
@click.option("--visibility", type=click.Choice(["open", "members"]), default="members", show_default=True)
@pass_context
def create_project(context: Context, key: str, name: str | None, description: str, visibility: str) -> None:
    """Make a project; for admins of the installation."""
    body = {"key": key, "name": name or key, "description": description, "visibility": visibility}
    made = context.api().call("POST", "/api/v1/projects", json=body).json()
    context.terminal.answer(made, _line(made))


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what a SHELL evaluates to complete commands: eval "$(traceline completion bash)"."""
    kind = get_completion_class(shell)
    if kind is None:
        raise Failure(Exit.WRONG_USE, f"There is no completion for {shell}.")
    click.echo(kind(main, {}, "traceline", "_TRACELINE_COMPLETE").source())


def _line(one: dict[str, Any]) -> str:
    return f"{one['key']}  {one['name']}  {one['visibility']}{', archived' if one['archived'] else ''}"


for command in (import_file, export, results, gate):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="traceline")

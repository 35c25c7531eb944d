"""The command `traceline`."""

import os
import re
import sys
import time
from io import TextIOWrapper
from typing import Any

import click
from click.shell_completion import get_completion_class

from traceline_cli import __version__, login
from traceline_cli.api import Api, content_of
from traceline_cli.check import check
from traceline_cli.context import Context, log_in, pass_context, shared_options
from traceline_cli.exchange import export, import_file
from traceline_cli.failures import Exit, Failure
from traceline_cli.fields import fields
from traceline_cli.gate import gate
from traceline_cli.login import Login
from traceline_cli.mcp import mcp
from traceline_cli.pull_request.command import pull_request
from traceline_cli.results import results
from traceline_cli.tokens import token

_WITHIN = 1800.0
_TOKEN = re.compile("tlp_[0-9A-Za-z]{36}")
_AS_LONG = 366 * 24 * 3600
"""Seconds: no API token is good for longer, and the service knows when one ends."""
_OF_PROJECT = ("key", "name", "visibility", "archived")
_INTERRUPTED = "Interrupted."


_SECTIONS = {
    "Begin": ("login", "logout", "project", "token"),
    "Results and the gate, for CI and for people": ("results", "gate", "pr", "check"),
    "The record": ("import", "export", "fields", "suggest"),
    "Agents": ("mcp",),
    "The shell": ("completion",),
}


class _Commands(click.Group):
    """Has every end say its reason: a traceback would end with 1, as a gate that does not pass."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what people do with them, each with the whole of its first sentence."""
        left = {*self.commands} - {name for names in _SECTIONS.values() for name in names}
        for title, names in {**_SECTIONS, **({"Others": sorted(left)} if left else {})}.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=200)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        if isinstance(sys.stdout, TextIOWrapper):
            # As stderr does: names may have letters that the terminal, or a pipe on Windows, has not.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            return self._invoke(ctx)
        except click.ClickException as error:
            failure = error if isinstance(error, Failure) else Failure(Exit.WRONG_USE, error.format_message())
            terminal = ctx.ensure_object(Context).terminal
            if terminal.as_json and not terminal.has_answered:
                terminal.answer({"error": failure.problem})
            raise

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Failure(Exit.WRONG_USE, f"{error.filename or 'A file'}: {error.strerror or error}.") from None
        except KeyboardInterrupt:
            raise Failure(Exit.INTERRUPTED, _INTERRUPTED) from None
        except click.Abort as error:
            if isinstance(error.__context__, KeyboardInterrupt):  # while something was to be entered
                raise Failure(Exit.INTERRUPTED, _INTERRUPTED) from None
            raise Failure(Exit.WRONG_USE, "Nothing was entered; without a terminal, say it by options.") from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="traceline")
def main() -> None:
    """Traceline: which requirement is covered by which test, and whether that holds.

    \b
    traceline --url https://traceline.example.com login
    traceline results 'build/**/*.xml'                 send what tests reported
    traceline gate --rule max_failed=0                 may this change go out?
    traceline check docs report.xml                    the same without a server

    TRACELINE_URL and TRACELINE_PROJECT say where; TRACELINE_TOKEN is an API token for pipelines, TRACELINE_EMAIL and
    TRACELINE_PASSWORD log in for one command.

    Exit codes: 0 done or passed, 1 not passed, 2 wrong use, 3 not reachable or not let in, 4 refused, 5 timed out,
    130 interrupted.
    """


@main.command("login")
@click.option("--email", help="Asked for without it.")
@click.option("--password", envvar="TRACELINE_PASSWORD", help="Asked for without it; TRACELINE_PASSWORD has it, too.")
@click.option(
    "--token", "by_token", is_flag=True, help="With an API token of the page, such as where single sign-on is."
)
@pass_context
def log_in_here(context: Context, email: str | None, password: str | None, *, by_token: bool) -> None:
    """Log in and keep that until it ends, in a file that nobody else can read.

    By email and password, or with --token: it prints where the page makes an API token, and reads it without showing
    it. A pipe may hand it in: pass show traceline | traceline login --token.
    """
    if context.url is None:
        raise click.UsageError("Say where: traceline --url https://... login, or TRACELINE_URL.")
    if by_token and (email or password) and not os.environ.get("TRACELINE_PASSWORD"):
        raise click.UsageError("--token takes no email and no password.")
    api = context.at(context.url, None)
    if by_token:
        token = _ask_token(context, api)
        me = content_of(context.at(context.url, token).call("GET", "/api/v1/auth/me"), "email")
        _keep(context, api, token, _AS_LONG, f"Logged in as {me['email']}, as long as the token is good.")
        return
    email = email or click.prompt("Email", err=True)
    password = password or click.prompt("Password", hide_input=True, err=True)
    try:
        token, seconds = log_in(api, email, password)
    except Failure as failure:
        if failure.problem["code"] != "second_factor_required":
            raise
        token, seconds = log_in(api, email, password, click.prompt("Code of your second factor", err=True))
    _keep(context, api, token, seconds, f"Logged in for {seconds // 60} minutes.")


def _ask_token(context: Context, api: Api) -> str:
    """Return the API token that somebody enters; raise Failure for what is none."""
    if sys.stdin.isatty():
        context.terminal.say(f"Make an API token at {api.page}/account, with the scopes that you need, and paste it.")
        token = click.prompt("Token", hide_input=True, err=True)
    else:
        token = sys.stdin.readline()
    token = token.strip()
    if not _TOKEN.fullmatch(token):
        said = f"This is no API token, which is tlp_ and 36 letters and digits: make one at {api.page}/account."
        raise Failure(Exit.WRONG_USE, said)
    return str(token)


def _keep(context: Context, api: Api, token: str, seconds: int, said: str) -> None:
    file = login.place()
    login.keep(Login(api.url, token, time.time() + seconds), file)
    context.terminal.answer({"file": str(file), "seconds": seconds}, said)


@main.command("logout")
@pass_context
def log_out_here(context: Context) -> None:
    """Forget the log-in that is kept here; the page ends sessions and revokes tokens."""
    file = login.place()
    was_there = file.exists()
    file.unlink(missing_ok=True)
    context.terminal.answer(
        {"logged_out": was_there}, "Logged out here." if was_there else "Nobody was logged in here."
    )


@main.command()
@click.option("--algorithm", type=click.Choice(["tfidf", "keyword", "hybrid"]))
@click.option("--threshold", type=click.FloatRange(0, 1))
@click.option("--wait", type=float, default=_WITHIN, show_default=True, help="Seconds.")
@pass_context
def suggest(context: Context, algorithm: str | None, threshold: float | None, wait: float) -> None:
    """Have links suggested for all requirements, and wait until it is done."""
    api = context.api()
    with context.terminal.progress("suggestions") as look:
        asked = api.post(
            "/suggestions/generate",
            params={"algorithm": algorithm, "threshold": threshold},
            headers={"Prefer": "respond-async"},
        )
        run = api.follow(asked, "status", "suggestions_created", "pairs_analyzed", within=wait, look=look)
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
    api = context.api()
    found: list[dict[str, Any]] = []
    while page := content_of(
        api.call("GET", "/api/v1/projects", params={"limit": 500, "skip": len(found)}), "items", "total"
    )["items"]:
        found += page
    context.terminal.answer(found, *(_line(one) for one in found))


@project.command("show")
@click.argument("key")
@pass_context
def show_project(context: Context, key: str) -> None:
    """Show one project."""
    found = content_of(context.api().call("GET", f"/api/v1/projects/{key}"), *_OF_PROJECT, "description")
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
    made = content_of(context.api().call("POST", "/api/v1/projects", json=body), *_OF_PROJECT)
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


for command in (import_file, export, fields, results, gate, check, pull_request, token, mcp):
    main.add_command(command)
shared_options(main, url="TRACELINE_URL", project="TRACELINE_PROJECT")
for command in (*main.commands.values(), *project.commands.values(), *token.commands.values()):
    shared_options(command)

if __name__ == "__main__":
    main(prog_name="traceline")

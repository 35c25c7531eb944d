"""What all commands share: where they call, as whom, and how they speak."""

import os
from dataclasses import dataclass, field
from typing import Any

import click

from traceline_cli import login
from traceline_cli.api import PATIENCE, Api, content_of
from traceline_cli.deadline import Deadline
from traceline_cli.failures import Exit, Failure
from traceline_cli.terminal import Terminal

TRIES = 6


@dataclass(slots=True)
class Context:
    """The options that stand before or after the command's name."""

    url: str | None = None
    project: str | None = None
    tries: int = TRIES
    timeout: float = PATIENCE
    deadline: Deadline | None = None
    terminal: Terminal = field(default_factory=Terminal)

    def api(self) -> Api:
        """Return the API as whoever the variables or the kept log-in say."""
        stored = login.find(login.place())
        url = self.url or (stored.url if stored is not None else None)
        if url is None:
            raise Failure(Exit.WRONG_USE, "Say where Traceline is: --url, TRACELINE_URL, or `traceline login`.")
        stranger = self.at(url, None)
        if token := os.environ.get("TRACELINE_TOKEN", "").strip():
            return self.at(url, token)
        if email := os.environ.get("TRACELINE_EMAIL"):
            token, _ = log_in(stranger, email, os.environ.get("TRACELINE_PASSWORD", ""))
            return self.at(url, token)
        if stored is None or stored.url != stranger.url:
            raise Failure(
                Exit.UNREACHABLE,
                "Nobody is logged in, or no longer: set TRACELINE_TOKEN to an API token, or use `traceline login`.",
            )
        return self.at(url, stored.token)

    def at(self, url: str, token: str | None) -> Api:
        """Return the API at an address."""
        return Api(
            url,
            token,
            self.project,
            tries=self.tries,
            say=self.terminal.say,
            patience=self.timeout,
            deadline=self.deadline,
        )


def log_in(api: Api, email: str, password: str, code: str | None = None) -> tuple[str, int]:
    """Return an access token and for how many seconds it is good; `code` is that of a second factor."""
    form = {"username": email, "password": password, **({} if code is None else {"otp": code})}
    answer = content_of(api.call("POST", "/api/v1/auth/login", data=form), "access_token", "expires_in")
    return answer["access_token"], int(answer["expires_in"])


pass_context = click.make_pass_decorator(Context, ensure=True)


_EVERYWHERE = (
    "Every command takes --url, --project, --tries, --timeout and --json; traceline --help says what they mean."
)


def shared_options(command: click.Command, **environment: str) -> click.Command:
    """Add the options that every command has; those of `environment` have a variable, too."""
    url = click.Option(
        ["--url"],
        envvar=environment.get("url"),
        help="Where Traceline is, such as https://traceline.example.com.",
    )
    project = click.Option(
        ["--project"],
        envvar=environment.get("project"),
        metavar="KEY",
        help="The project; without it MAIN.",
    )
    tries = click.Option(
        ["--tries"],
        type=click.IntRange(1, 20),
        help=f"How often a call is tried; {TRIES} without it.",
    )
    timeout = click.Option(
        ["--timeout"],
        type=click.FloatRange(1, 3600),
        metavar="SECONDS",
        help=f"How long a call, and all of `pr`, may take; {PATIENCE:g} without it. Then it ends with 5.",
    )
    as_json = click.Option(
        ["--json", "as_json"],
        is_flag=True,
        default=None,
        help="Answer with one JSON document.",
    )
    for option in (url, project, tries, timeout, as_json):
        option.expose_value = False
        option.callback = _keep
        # Said once, where all of them are explained: each command shows what is its own.
        option.hidden = not isinstance(command, click.Group)
        command.params.append(option)
    if not isinstance(command, click.Group):
        command.epilog = _EVERYWHERE
    return command


def _keep(click_context: click.Context, option: click.Parameter, value: Any) -> None:
    """Set what is given, so that an option after the command's name counts more than one before it."""
    context = click_context.ensure_object(Context)
    if value is None:
        return
    if option.name == "as_json":
        context.terminal.as_json = value
    else:
        setattr(context, option.name or "", value)

"""What all commands share: where they call, as whom, and how they speak."""

import os
from dataclasses import dataclass

import click

from traceline_cli import login
from traceline_cli.api import Api
from traceline_cli.failures import Exit, Failure
from traceline_cli.terminal import Terminal

TRIES = 6


@dataclass(slots=True)
class Context:
    """The options before the command's name."""

    url: str | None
    project: str | None
    tries: int
    terminal: Terminal

    def api(self) -> Api:
        """Return the API as whoever the variables or the kept log-in say."""
        kept = login.find(login.place())
        url = self.url or (kept.url if kept is not None else None)
        if url is None:
            raise Failure(Exit.WRONG_USE, "Say where Traceline is: --url, TRACELINE_URL, or `traceline login`.")
        if token := os.environ.get("TRACELINE_TOKEN"):
            return self.at(url, token)
        if email := os.environ.get("TRACELINE_EMAIL"):
            token, _ = log_in(self.at(url, None), email, os.environ.get("TRACELINE_PASSWORD", ""))
            return self.at(url, token)
        if kept is None or kept.url != self.at(url, None).url:
            raise Failure(
                Exit.UNREACHABLE,
                "Nobody is logged in, or no longer: set TRACELINE_TOKEN to an API token, or use `traceline login`.",
            )
        return self.at(url, kept.token)

    def at(self, url: str, token: str | None) -> Api:
        """Return the API at an address."""
        return Api(url, token, self.project, tries=self.tries, say=self.terminal.say)


def log_in(api: Api, email: str, password: str) -> tuple[str, int]:
    """Return an access token and for how many seconds it is good."""
    answer = api.call("POST", "/api/v1/auth/login", data={"username": email, "password": password}).json()
    return answer["access_token"], int(answer["expires_in"])


pass_context = click.make_pass_decorator(Context)

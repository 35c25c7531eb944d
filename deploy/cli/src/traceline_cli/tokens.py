"""`traceline token`: API tokens for pipelines and agents, without a page or curl."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from traceline_cli.api import content_of
from traceline_cli.context import Context, pass_context

_OF_TOKEN = ("id", "name", "scopes", "expires_at")
_SCOPES = ("read", "write", "propose", "review", "results", "admin", "badge")
_BADGES = ("verified", "coverage", "gate")


@click.group()
def token() -> None:
    """API tokens, for whoever has logged in: no token makes another."""


@token.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(_SCOPES),
    help="What it may do; each may read. A pipeline that sends results needs no more than results.",
)
@click.option("--days", type=click.IntRange(1, 365), default=90, show_default=True, help="When it ends.")
@pass_context
def create_token(context: Context, name: str, scopes: tuple[str, ...], days: int) -> None:
    """Make an API token called NAME and print it, once; with --project it is for that project alone.

    TOKEN=$(traceline token create ci --scope results) has the token and nothing else. With the scope badge alone it
    prints the addresses of badges, which hold the token and are for a README.
    """
    body = {
        "name": name,
        "scopes": list(scopes),
        "projects": [context.project] if context.project else None,
        "expires_at": (datetime.now(UTC) + timedelta(days=days)).isoformat(),
    }
    api = context.api()
    answer = api.call("POST", "/api/v1/auth/tokens", json=body)
    made = content_of(answer, *_OF_TOKEN, "token", "warnings")
    is_badge = made["scopes"] == ["badge"]
    use = "it can show badges and nothing else" if is_badge else "keep it as a secret of the pipeline, TRACELINE_TOKEN"
    context.terminal.say(f"{_line(made)}. It is shown this once: {use}.")
    for warning in made["warnings"]:
        context.terminal.say(f"Warning: {warning}")
    below = f"{api.url}/api/v1/projects/{context.project or 'MAIN'}/badges"
    addresses = [f"{below}/{name}.svg?token={made['token']}" for name in _BADGES]
    context.terminal.answer(made, *(addresses if is_badge else [str(made["token"])]))


@token.command("list")
@pass_context
def list_tokens(context: Context) -> None:
    """List your API tokens, never their secrets."""
    api = context.api()
    found: list[dict[str, Any]] = []
    while page := content_of(
        api.call("GET", "/api/v1/auth/tokens", params={"limit": 500, "skip": len(found)}), "items", "total"
    )["items"]:
        found += page
    context.terminal.answer(found, *(_line(one) for one in found))


@token.command("revoke")
@click.argument("number", type=click.IntRange(min=1))
@pass_context
def revoke_token(context: Context, number: int) -> None:
    """End the API token NUMBER, which `traceline token list` has, at once."""
    context.api().call("DELETE", f"/api/v1/auth/tokens/{number}")
    context.terminal.answer({"id": number}, f"The token {number} is revoked.")


def _line(one: dict[str, Any]) -> str:
    projects = f", for {', '.join(one['projects'])} alone" if one.get("projects") else ""
    return f"{one['id']}  {one['name']}  {', '.join(one['scopes'])}{projects}, until {str(one['expires_at'])[:10]}"

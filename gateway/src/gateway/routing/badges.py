"""The token in the address of a badge: nothing else can be sent with a picture of a README."""

from urllib.parse import unquote

from starlette.types import Scope

from chassis.core.problems import NotFound

RESOURCE = "badges"
_TOKEN = b"token="


def take_token(scope: Scope) -> tuple[Scope, str | None]:
    """Return a request without the token of its query, so that no service and no log has it, and that token."""
    parts: list[bytes] = scope["query_string"].split(b"&")
    tokens = [unquote(part[len(_TOKEN) :].decode("latin-1")) for part in parts if part.startswith(_TOKEN)]
    if not tokens:
        return scope, None
    rest = b"&".join(part for part in parts if not part.startswith(_TOKEN))
    return {**scope, "query_string": rest}, tokens[-1]


def hide_badge() -> NotFound:
    """Return the problem of a badge that nobody may see by this address: it does not tell what there is."""
    return NotFound(
        "There is no badge at this address: it needs `token=` with an API token whose scope is `badge`, of somebody who"
        " may see the project.",
        code="badge_not_found",
    )

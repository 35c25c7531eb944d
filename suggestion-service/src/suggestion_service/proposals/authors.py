"""Who proposes: the API token or user of a request, and the program that sent it."""

import re
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from chassis.core.identity import Identity
from contracts.api_tokens import PREFIX

_LONGEST = 100
_PRODUCT = re.compile(r"\s*([^\s/]+)(?:/(\S+))?")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


@dataclass(frozen=True, slots=True)
class Author:
    """Who proposes; `client` is name and version of the program, as it says."""

    id: str
    name: str
    owner_id: int | None
    owner_email: str
    client: dict[str, Any] | None


def is_token(caller: Identity) -> bool:
    """Check whether a caller came with an API token."""
    return caller.token_id.startswith(PREFIX)


def agent_id(caller: Identity) -> str:
    """Return what tells agents apart: each API token is one, and each user who came without."""
    return caller.token_id if is_token(caller) else f"user_{caller.id}"


def author_of(request: Request, caller: Identity) -> Author:
    """Return who proposes by a request."""
    name = caller.token_name or caller.token_id if is_token(caller) else caller.email
    return Author(agent_id(caller), name, caller.id, caller.email, _client(request.headers.get("user-agent")))


def _client(user_agent: str | None) -> dict[str, Any] | None:
    """Return the first product of a User-Agent (RFC 9110, section 10.1.5)."""
    found = _PRODUCT.match(_UNPRINTABLE.sub("", user_agent or ""))
    if found is None:
        return None
    return {"name": found[1][:_LONGEST], "version": None if found[2] is None else found[2][:_LONGEST]}

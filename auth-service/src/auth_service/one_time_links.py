"""Links that are good once: 128 bits that nobody guesses, of which only the hash is stored."""

import secrets
from hashlib import sha256
from typing import Annotated

from pydantic import Field, SecretStr

from chassis.core.problems import Gone

_BYTES = 16

LinkToken = Annotated[
    SecretStr, Field(min_length=20, max_length=64, description="What stands behind the # of the link.")
]


def new() -> str:
    """Return the secret part of a new link."""
    return secrets.token_urlsafe(_BYTES)


def hash_of(token: str) -> str:
    """Return what is stored of a link."""
    return sha256(token.encode()).hexdigest()


def address(public_url: str | None, page: str, token: str) -> str:
    """Return the link itself, to be opened in a browser; without `public_url` it begins with the path.

    The secret is in the fragment, which browsers send to no server and write into no log.
    """
    return f"{public_url or ''}/{page}#{token}"


def works_no_more(ask: str) -> Gone:
    """Return the problem of a link that is none, was used or revoked, or is too old; `ask`: whom for another."""
    return Gone(f"This link works no more, if it ever did: {ask} for another.", code="link_invalid")

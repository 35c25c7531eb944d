"""What an API token is: a secret of pipelines and agents that says nothing, and is known by its hash.

`tlp_`, 30 random characters of base62 and 6 of a checksum, which is the CRC-32 of the 30 in base62: a scanner for
secrets knows one offline, without asking anybody.
"""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from string import ascii_lowercase, ascii_uppercase, digits
from zlib import crc32

from chassis.core.identity import Identity, Role
from chassis.core.problems import Forbidden

PREFIX = "tlp_"
LONGEST_LIFETIME = timedelta(days=365)
DEFAULT_LIFETIME = timedelta(days=90)

_BASE62 = digits + ascii_uppercase + ascii_lowercase
_RANDOM = 30
_CHECKSUM = 6


class Scope(StrEnum):
    """What a token may; each but `badge` may read, and none includes another. It may nothing that its owner may not."""

    READ = "read"
    WRITE = "write"
    """Items, links and imports; may have suggestions generated."""
    PROPOSE = "propose"
    """May have suggestions generated and make some, and never accept one."""
    REVIEW = "review"
    RESULTS = "results"
    ADMIN = "admin"
    BADGE = "badge"
    """Badges and nothing else, since it stands in an address; a token with others, too, may what these may."""


NEEDED_ROLES: Mapping[str, Role] = {
    Scope.READ: Role.VIEWER,
    Scope.WRITE: Role.REVIEWER,
    Scope.PROPOSE: Role.REVIEWER,
    Scope.REVIEW: Role.REVIEWER,
    Scope.RESULTS: Role.REVIEWER,
    Scope.ADMIN: Role.ADMIN,
    Scope.BADGE: Role.VIEWER,
}
"""The role without which somebody may nothing of what a scope is for."""


def new() -> str:
    """Return a token that nobody can guess: 178 bits of the system's randomness."""
    random = "".join(secrets.choice(_BASE62) for _ in range(_RANDOM))
    return PREFIX + random + _checksum(random)


def is_whole(token: str) -> bool:
    """Check whether a text can be a token: whether nothing of it was mistyped or is missing."""
    random, checksum = token[len(PREFIX) : -_CHECKSUM], token[-_CHECKSUM:]
    return token.startswith(PREFIX) and len(random) == _RANDOM and random.isascii() and checksum == _checksum(random)


def digest(token: str) -> str:
    """Return the SHA-256 that stands for a token wherever it is kept: there is nothing to guess it from."""
    return sha256(token.encode()).hexdigest()


def session_needed() -> Forbidden:
    """Return the problem of an API token that is sent where only people who have logged in may be."""
    return Forbidden(
        "This is for people who have logged in, and no API token does it, whatever its scopes are: sign in at the page,"
        " or log in at /api/v1/auth/login and send that access token.",
        code="session_needed",
    )


def check_is_none(identity: Identity) -> None:
    """Raise Forbidden session_needed where a caller came with an API token.

    Whoever has found one must neither stay, by what they make, after it is revoked, nor do what cannot be undone.
    """
    if identity.token_id.startswith(PREFIX):
        raise session_needed()


def _checksum(random: str) -> str:
    rest, written = crc32(random.encode()), ""
    for _ in range(_CHECKSUM):
        rest, digit = divmod(rest, len(_BASE62))
        written = _BASE62[digit] + written
    return written

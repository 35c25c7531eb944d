"""Projects as auth-service keeps them and the gateway decides by them: keys, visibility, who has which role there."""

import re
from enum import StrEnum
from typing import Final

from chassis.core.identity import Role
from chassis.core.problems import Conflict, NotFound

DEMO: Final = "DEMO"
"""The key of the demo's project."""

KEY = re.compile(r"[A-Z][A-Z0-9]{1,9}")
"""What the key of a project looks like."""


class Visibility(StrEnum):
    """Whom a project lets in: everybody who is signed in, with the role of their account; or its members alone."""

    OPEN = "open"
    MEMBERS = "members"


def role_in(visibility: Visibility, account: Role | None, membership: Role | None) -> Role | None:
    """Return the role that somebody has in a project, by those of their account and of their membership there.

    None: they have no access, and must not see that it exists.
    """
    if account is Role.ADMIN:
        return account
    if visibility is Visibility.MEMBERS:
        return membership
    if account is None or membership is None:
        return account or membership
    return max(account, membership, key=lambda role: role.rank)


def no_such_project() -> NotFound:
    """Return the problem of a project that is not there, and of one that the caller has no access to: the same."""
    return NotFound("There is no project with this key, or you have no access to it.", code="project_not_found")


def project_archived() -> Conflict:
    """Return the problem of a write into a project that is archived."""
    return Conflict(
        "This project is archived, so nothing in it can be changed; an admin of the project can take it out of the"
        " archive first.",
        code="project_archived",
    )

"""Who calls, and what they may."""

from dataclasses import dataclass
from enum import StrEnum

from chassis.core import projects


class Role(StrEnum):
    ADMIN = "admin"
    REVIEWER = "reviewer"
    VIEWER = "viewer"

    @property
    def rank(self) -> int:
        """A number that is the higher the more the role may."""
        return _RANK[self]


_RANK = {Role.VIEWER: 0, Role.REVIEWER: 1, Role.ADMIN: 2}


@dataclass(frozen=True, slots=True)
class Identity:
    """A person with the role as it is now, and the token they came with; or a service, which has no id.

    `project` is the key of the project that the request is about, in which `role` holds; empty for what belongs to the
    installation.
    `token_id` and `token_expires_at` name the bearer token of the request, `session_id` the log-in that it is of, so
    that they can be ended; `logged_in_at` says when that was, so that it can be renewed. Times are in seconds since the
    epoch, 0 when not known; an API token is of no session.
    `account_role` is the role of the account, which counts for the installation; None: it is `role`.
    `at_page`: the token came with the cookie of a session; whoever did that has seen what it did.
    `token_name` is what the owner of an API token calls it, empty for other tokens.
    """

    id: int | None
    email: str
    role: Role | None
    token_id: str = ""
    token_expires_at: int = 0
    logged_in_at: float = 0
    project: str = projects.MAIN
    session_id: str = ""
    account_role: Role | None = None
    at_page: bool = False
    token_name: str = ""

    @property
    def administers(self) -> bool:
        """Whether this is an admin of the installation, and not of a project alone."""
        return (self.account_role or self.role) is Role.ADMIN

    def may(self, needed: Role) -> bool:
        """Check whether this caller has at least the role `needed`."""
        return self.role is not None and _RANK[self.role] >= _RANK[needed]


ANONYMOUS = Identity(id=0, email="anonymous", role=None, project=projects.NONE)
"""Whoever calls an address that needs no token, as the gateway vouches for where they are: it may nothing."""

"""Who calls, and permissions that read as types."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Request

from chassis.core import projects
from chassis.core.problems import Forbidden, Unauthenticated
from chassis.core.request_context import actor_id


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

    @property
    def administers(self) -> bool:
        """Whether this is an admin of the installation, and not of a project alone."""
        return (self.account_role or self.role) is Role.ADMIN

    def may(self, needed: Role) -> bool:
        """Check whether this caller has at least the role `needed`."""
        return self.role is not None and _RANK[self.role] >= _RANK[needed]


ANONYMOUS = Identity(id=0, email="anonymous", role=None, project=projects.NONE)
"""Whoever calls an address that needs no token, as the gateway vouches for where they are: it may nothing."""


def bearer(request: Request) -> str:
    """Return the bearer token of the request, or raise Unauthenticated."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("Log in and send the access token as 'Authorization: Bearer <ACCESS_TOKEN>'.")
    return token


def is_from_gateway(request: Request) -> bool:
    """Check whether the gateway sent a request, for whomever."""
    try:
        identity: Identity = request.app.state.internal_verifier.verify(bearer(request))
    except Unauthenticated:
        return False
    return identity.id is not None


def _identify(request: Request) -> Identity:
    identity: Identity = request.app.state.internal_verifier.verify(bearer(request))
    actor_id.set(identity.id)
    projects.current.set(identity.project)
    return identity


def _require(request: Request, needed: Role) -> Identity:
    identity = _identify(request)
    if not identity.may(needed):
        raise Forbidden(f"This needs the role {needed}; ask an admin to change yours.", code="role_too_low")
    return identity


async def _viewer(request: Request) -> Identity:
    return _require(request, Role.VIEWER)


async def _reviewer(request: Request) -> Identity:
    return _require(request, Role.REVIEWER)


async def _admin(request: Request) -> Identity:
    return _require(request, Role.ADMIN)


async def _service(request: Request) -> Identity:
    identity = _identify(request)
    request.app.state.internal_verifier.check_internal(identity, request.scope["route"].path)
    return identity


Viewer = Annotated[Identity, Depends(_viewer)]
Reviewer = Annotated[Identity, Depends(_reviewer)]
Admin = Annotated[Identity, Depends(_admin)]
ServiceCaller = Annotated[Identity, Depends(_service)]
"""A route is as open as the type of its caller: any role, reviewer, admin, or what `contracts.routes` lists for it."""

_ROLES = {_viewer: Role.VIEWER, _reviewer: Role.REVIEWER, _admin: Role.ADMIN}


def role_of(dependency: object) -> Role | None:
    """Return the role that a dependency of a route asks for; None when it is about something else."""
    return next((role for ours, role in _ROLES.items() if ours is dependency), None)

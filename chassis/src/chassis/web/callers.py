"""Who a request is from, and permissions that read as types."""

from typing import Annotated

from fastapi import Depends, Request

from chassis.core import projects
from chassis.core.identity import Identity, Role
from chassis.core.problems import Forbidden, Unauthenticated
from chassis.core.request_context import actor_id


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

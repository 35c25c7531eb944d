"""Who calls: the internal token between gateway and services, and permissions that read as types."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import jwt
from fastapi import Depends, Request

from chassis.core import projects
from chassis.core.problems import Forbidden, Unauthenticated
from chassis.core.request_context import actor_id

AUDIENCE = "traceline-internal"
LIFETIME = 60
_CLOCK_SKEW = 5
"""Seconds by which the issuer's clock and ours may differ."""
_CACHE_SIZE = 10_000


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


class InternalTokens:
    """Issues and verifies the short-lived tokens that services trust: HS256, every claim required.

    Both ends keep what they issued or verified for as long as it lives.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._issued: dict[Identity, tuple[str, float]] = {}
        self._verified: dict[str, tuple[Identity, float]] = {}

    def issue(self, identity: Identity) -> str:
        """Return a token for `identity` that lives for LIFETIME seconds at most, and half of that at least."""
        now = time.time()
        cached = self._issued.get(identity)
        if cached is not None and cached[1] > now + LIFETIME / 2:
            return cached[0]
        claims: dict[str, Any] = {
            "iss": "traceline",
            "aud": AUDIENCE,
            "sub": "service" if identity.id is None else str(identity.id),
            "email": identity.email,
            "role": identity.role or "",  # a required claim must not be null
            "iat": int(now),
            "exp": int(now) + LIFETIME,
            "tid": identity.token_id,
            "texp": identity.token_expires_at,
            "auth_time": identity.logged_in_at,
            "project": identity.project,
            "sid": identity.session_id,
            "account_role": identity.account_role or "",
        }
        token = jwt.encode(claims, self._secret, algorithm="HS256", headers={"typ": "internal+jwt"})
        _bound(self._issued)
        self._issued[identity] = (token, claims["exp"])
        return token

    def verify(self, token: str) -> Identity:
        """Return the identity of an internal token; raise Unauthenticated for anything else."""
        cached = self._verified.get(token)
        if cached is not None and cached[1] > time.time():
            return cached[0]
        try:
            decoded = jwt.decode_complete(
                token,
                self._secret,
                algorithms=["HS256"],
                audience=AUDIENCE,
                issuer="traceline",
                leeway=_CLOCK_SKEW,
                options={"require": ["iss", "aud", "sub", "email", "role", "iat", "exp", "tid", "texp"]},
            )
            claims = decoded["payload"]
            if decoded["header"].get("typ") != "internal+jwt":
                raise Unauthenticated("This address is not public; call the API through the gateway.")
            identity = Identity(
                id=None if claims["sub"] == "service" else int(claims["sub"]),
                email=claims["email"],
                role=Role(claims["role"]) if claims["role"] else None,
                token_id=claims["tid"],
                token_expires_at=claims["texp"],
                logged_in_at=claims.get("auth_time", 0),  # a gateway of an older version does not tell
                project=claims.get("project", projects.MAIN),
                session_id=claims.get("sid") or claims["tid"],  # nor this
                account_role=Role(claims["account_role"]) if claims.get("account_role") else None,
            )
        except (jwt.InvalidTokenError, ValueError):
            raise Unauthenticated("This address is not public; call the API through the gateway.") from None
        _bound(self._verified)
        self._verified[token] = (identity, claims["exp"])
        return identity


ANONYMOUS = Identity(id=0, email="anonymous", role=None, project=projects.NONE)
"""Whoever calls an address that needs no token, as the gateway vouches for where they are: it may nothing."""


def _bound(cache: dict[Any, Any]) -> None:
    if len(cache) >= _CACHE_SIZE:
        cache.clear()


def bearer(request: Request) -> str:
    """Return the bearer token of the request, or raise Unauthenticated."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated("Log in and send the access token as 'Authorization: Bearer <ACCESS_TOKEN>'.")
    return token


def is_from_inside(request: Request) -> bool:
    """Check whether the gateway or a service sent a request, for whomever."""
    tokens: InternalTokens = request.app.state.internal_tokens
    try:
        tokens.verify(bearer(request))
    except Unauthenticated:
        return False
    return True


def _identify(request: Request) -> Identity:
    tokens: InternalTokens = request.app.state.internal_tokens
    identity = tokens.verify(bearer(request))
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
    if identity.id is not None:
        raise Forbidden("Only services may call this address.")
    return identity


Viewer = Annotated[Identity, Depends(_viewer)]
Reviewer = Annotated[Identity, Depends(_reviewer)]
Admin = Annotated[Identity, Depends(_admin)]
ServiceCaller = Annotated[Identity, Depends(_service)]
"""A route is as open as the type of its caller: any role, reviewer, admin, or another service."""

_ROLES = {_viewer: Role.VIEWER, _reviewer: Role.REVIEWER, _admin: Role.ADMIN}


def role_of(dependency: object) -> Role | None:
    """Return the role that a dependency of a route asks for; None when it is about something else."""
    return next((role for ours, role in _ROLES.items() if ours is dependency), None)

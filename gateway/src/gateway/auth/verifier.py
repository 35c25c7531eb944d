"""Access tokens: signature and claims are verified once, what has happened since is looked up with each request."""

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import jwt

from chassis.core.identity import Identity, Role
from chassis.core.problems import Forbidden, StorageFull, Unavailable
from chassis.core.projects import NONE
from chassis.web.peers import Peer
from contracts import tokens
from contracts.api_tokens import PREFIX
from contracts.projects import no_such_project
from contracts.routes import SERVICES
from gateway.auth import bearer
from gateway.auth.revocations import POLL, Revocations
from gateway.auth.scopes import BADGES_ALONE

_log = logging.getLogger(__name__)

_MAX_TOKEN_LENGTH = 4096
_CACHE_SIZE = 20_000
_LONGEST_TOLD = 300
_KEY_FETCH_INTERVAL = 10
_CLOCK_SKEW = 5
"""Seconds by which auth-service's clock may be ahead of ours; an expired token is refused all the same."""
_LONGEST_LIFE = tokens.LONGEST_LIFETIME.total_seconds() + 1
"""Seconds; the one more is for what `iat` and `exp` lose as floating-point numbers."""
_FORMER_TYPE = "JWT"
"""The `typ` of tokens that auth-service issued before it named their type."""

_OF_PERSON = frozenset(resource for service in SERVICES for resource in service.of_person)
"""What is over all projects of a person."""
_PROJECTS = "projects"
_OF_ALL = frozenset({_PROJECTS, "users"})
"""What tells of all projects and people, or changes them."""
_BEFORE_PASSWORD_CHANGE = frozenset({("POST", "auth/change-password"), ("POST", "auth/logout"), ("GET", "auth/me")})
"""What somebody may whose password somebody else chose: to see whose account it is, beside what ends that state."""
_BEFORE_ENROLMENT = _BEFORE_PASSWORD_CHANGE | {
    ("GET", "auth/second-factor"),
    ("POST", "auth/second-factor"),
    ("POST", "auth/second-factor/confirm"),
    ("POST", "auth/renew"),
}
"""What somebody may who has to have a second factor first."""


@dataclass(frozen=True, slots=True)
class _Verified:
    """A token whose signature and claims are right; times in seconds since the epoch."""

    identity: Identity
    issued_at: float
    expires_at: float
    key_id: str
    must_change_password: bool = False
    must_enrol: bool = False


class TokenVerifier:
    """Verifies access tokens, once each, and returns who sent them as they are now."""

    def __init__(self, auth: Peer, *, patience: float = 0, at_hand: bool = False) -> None:
        """`patience`: for how many seconds requests wait for news of users and tokens; `at_hand`: see Revocations."""
        self.revocations = Revocations(auth, self._fetch_keys, patience=patience, at_hand=at_hand)
        self._auth = auth
        self._keys: dict[str, jwt.PyJWK] = {}
        self._keys_fetched_at = float("-inf")
        self._verified: dict[str, _Verified] = {}
        self._fetching_keys = asyncio.Lock()
        self._seen: dict[str, tuple[float, str, bytes]] = {}
        """When, from where and with what sessions were seen that auth-service was not told of yet, by their ids."""
        self._started_at = time.time()

    async def run(self) -> None:
        """Keep keys and revocations as auth-service has them, for ever."""
        while True:
            try:
                await self._fetch_keys()
                await self.revocations.follow()
            except Unavailable as away:
                _log.log(_level(away), "Keys or revocations cannot be read: %s", away.detail)
                await asyncio.sleep(POLL)

    async def identify(self, token: str) -> Identity:
        """Return the user of a token, with the role of their account as it is now, in no project.

        Raises Unauthenticated or Unavailable.
        """
        revocations = self.revocations
        await revocations.wait_for_news()
        if token.startswith(PREFIX):
            return revocations.api_tokens.identify(token, revocations.users).identity
        verified = self._verified.get(token)
        if verified is None:
            verified = await self._verify(token)
        if verified.expires_at <= time.time():
            self._verified.pop(token, None)
            raise bearer.expired(verified.identity)
        identity = verified.identity
        if identity.token_id in revocations.ended or identity.session_id in revocations.ended:
            raise bearer.ended(identity)
        current = revocations.users.get(identity.id or 0)
        if current is None:
            return identity
        if not current.is_active or verified.issued_at < current.not_before:
            raise bearer.ended(identity)
        if current.role is identity.role:
            return identity
        return replace(identity, role=current.role)

    async def permit(
        self, token: str, method: str, path: str, project: str, *, writes: bool, in_address: bool = False
    ) -> Identity:
        """Return the same for a request, with the role in its project; NONE is what belongs to the installation.

        `path` is that behind the API's prefix and the project, `writes` whether the project has to be out of the
        archive. A token that stands `in_address` may be of badges alone: addresses get about. Raises Forbidden, too,
        where the scopes of an API token do not allow it, NotFound where the user has no access to the project or the
        token is not for it, and Conflict project_archived.
        """
        if token.startswith(PREFIX):
            revocations = self.revocations
            await revocations.wait_for_news()
            known = revocations.api_tokens.permit(token, revocations.users, method, path)
            identity = known.identity
            if in_address and known.scopes != BADGES_ALONE:
                raise bearer.not_for_addresses()
            if known.projects is not None:
                _check_is_of(known.projects, project, path)
        elif in_address:
            raise bearer.not_for_addresses()
        else:
            identity = await self.identify(token)
            verified = self._verified[token]
            if verified.must_change_password and (method, path) not in _BEFORE_PASSWORD_CHANGE:
                raise bearer.password_change_required()
            if verified.must_enrol and (method, path) not in _BEFORE_ENROLMENT:
                raise bearer.second_factor_enrolment_required()
        if project == NONE:
            return identity
        return self.revocations.projects.enter(identity, project, writes=writes)

    def seen(self, identity: Identity, address: str, agent: bytes) -> None:
        """Remember that somebody has just sent a request, from where and with what."""
        if identity.session_id:
            self._seen[identity.session_id] = (time.time(), address, agent)

    async def report_use(self) -> None:
        """Report to auth-service which API tokens were used, and where sessions were seen, since it was told last."""
        used, seen = self.revocations.api_tokens.take_used(), self._seen
        self._seen = {}
        if not used and not seen:
            return
        try:
            await self._auth.put(
                "/internal/access-use",
                {
                    "api_tokens": {str(id_): at for id_, at in used.items()},
                    "sessions": {id_: _told(*one) for id_, one in seen.items()},
                },
            )
        except Unavailable as away:
            self.revocations.api_tokens.give_back(used)
            self._seen = seen | self._seen
            _log.log(_level(away), "The use of tokens cannot be told: %s", away.detail)

    async def learn(self) -> None:
        """Read at once what has happened: whoever has changed something goes on with it."""
        with suppress(Unavailable):  # it will be read in a moment
            await self.revocations.refresh()

    async def _verify(self, token: str) -> _Verified:
        bearer.check_form(token, _MAX_TOKEN_LENGTH)
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != tokens.ALGORITHM or "crit" in header:
                raise bearer.invalid()
            kind = header.get("typ")
            if kind not in (tokens.TYPE, _FORMER_TYPE):
                raise bearer.invalid()
            key = await self._key(header.get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[tokens.ALGORITHM],
                audience=tokens.AUDIENCE,
                issuer=tokens.ISSUER,
                leeway=_CLOCK_SKEW,
                options={"require": list(tokens.REQUIRED_CLAIMS)},
            )
            issued_at, expires_at = float(claims["iat"]), float(claims["exp"])
            # Who was logged in when this gateway was upgraded stays so; what is issued since has its type.
            if kind == _FORMER_TYPE and issued_at > self._started_at:
                raise bearer.invalid()
            if expires_at - issued_at > _LONGEST_LIFE:
                raise bearer.invalid()
            identity = Identity(
                int(claims["sub"]),
                str(claims["email"]),
                Role(claims["role"]),
                str(claims["jti"]),
                int(claims["exp"]),
                float(claims.get(tokens.AUTH_TIME, issued_at)),
                project=NONE,
                session_id=str(claims.get(tokens.SESSION_ID, claims["jti"])),
            )
        except jwt.ExpiredSignatureError:  # the signature is right
            raise bearer.expired(_former(token)) from None
        except (jwt.InvalidTokenError, ValueError, TypeError):
            raise bearer.invalid() from None
        if len(self._verified) >= _CACHE_SIZE:
            self._verified.clear()
        must_change = claims.get(tokens.MUST_CHANGE_PASSWORD) is True
        must_enrol = claims.get(tokens.MUST_ENROL) is True
        verified = _Verified(identity, issued_at, expires_at, header["kid"], must_change, must_enrol)
        self._verified[token] = verified
        return verified

    async def _key(self, key_id: object) -> jwt.PyJWK:
        if not isinstance(key_id, str):
            raise bearer.invalid()
        if key_id not in self._keys:
            async with self._fetching_keys:
                # An unknown key id may be a new key, or nonsense: ask, but not for every such token.
                if time.monotonic() - self._keys_fetched_at > _KEY_FETCH_INTERVAL:
                    await self._fetch_keys()
        key = self._keys.get(key_id)
        if key is None:
            raise bearer.invalid()
        return key

    async def _fetch_keys(self) -> None:
        self._keys_fetched_at = time.monotonic()
        response = await self._auth.get("/api/v1/auth/jwks.json")
        self._keys = {key["kid"]: jwt.PyJWK(key) for key in response.json()["keys"]}
        # What was signed with a key that is none any more was perhaps signed by somebody else.
        self._verified = {token: one for token, one in self._verified.items() if one.key_id in self._keys}


def _level(away: Unavailable) -> int:
    return logging.INFO if isinstance(away, StorageFull) else logging.WARNING  # a service without room says so once


def _former(token: str) -> Identity | None:
    """Return whose an expired token was, whose signature is right."""
    claims = jwt.decode(token, options={"verify_signature": False})
    try:
        token_id = str(claims["jti"])
        return Identity(int(claims["sub"]), "", None, token_id, session_id=str(claims.get(tokens.SESSION_ID, token_id)))
    except (KeyError, ValueError):
        return None


def _told(at: float, address: str, agent: bytes) -> dict[str, Any]:
    return {
        "at": datetime.fromtimestamp(at, UTC),
        "address": address[:_LONGEST_TOLD],
        "agent": agent.decode("latin-1")[:_LONGEST_TOLD],
    }


def _check_is_of(projects: frozenset[str], project: str, path: str) -> None:
    """Raise NotFound unless a path is of one of these projects, or of who owns the token; see TokenVerifier.permit.

    Raise Forbidden for what is of the whole installation.
    """
    resource, _, behind = path.partition("/")
    if project == NONE and resource == _PROJECTS and behind:
        project = behind.partition("/")[0]
    if resource in _OF_PERSON if project == NONE else project not in projects:
        raise no_such_project()
    if project == NONE and resource in _OF_ALL:
        raise Forbidden(
            "This API token is for some projects alone, and this is of the whole installation.",
            code="token_of_projects",
        )

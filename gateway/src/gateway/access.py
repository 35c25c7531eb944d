"""Who may pass: user tokens verified once, and what has happened to their users since."""

import asyncio
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jwt

from chassis.core.identity import Identity, Role
from chassis.core.problems import Unavailable
from chassis.messaging import outbox
from chassis.messaging.events import Message
from chassis.web.peers import Peer
from contracts import tokens
from contracts.auth import PasswordChanged, TokenEnded, UserCreated, UserState, UserUpdated
from gateway import bearer

_log = logging.getLogger(__name__)

_MAX_TOKEN_LENGTH = 4096
_CACHE_SIZE = 20_000
_POLL = 1.0
_MAX_STALENESS = 15
"""Seconds without news from auth-service after which nobody passes: a deactivated user must not stay in."""
_KEY_FETCH_INTERVAL = 10
_PAGE = 500
_FORGETTING = 60
"""Seconds between two looks for ended tokens that would have expired by now."""
_CLOCK_SKEW = 5
"""Seconds by which auth-service's clock may be ahead of ours; an expired token is refused all the same."""
_LONGEST_LIFE = tokens.LONGEST_LIFETIME.total_seconds() + 1
"""Seconds; the one more is for what `iat` and `exp` lose as floating-point numbers."""
_FORMER_TYPE = "JWT"
"""The `typ` of tokens that auth-service issued before it named their type."""


@dataclass(frozen=True, slots=True)
class _Verified:
    """A token whose signature and claims are right; times in seconds since the epoch."""

    identity: Identity
    issued_at: float
    expires_at: float


@dataclass(frozen=True, slots=True)
class _Current:
    """A user whose access changed within the last token lifetime, as they are now."""

    role: Role
    is_active: bool
    not_before: float


class Access:
    """Verifies user tokens and keeps the exceptions of the last token lifetime, from auth-service's feed."""

    def __init__(self, auth: Peer) -> None:
        self._auth = auth
        self._keys: dict[str, jwt.PyJWK] = {}
        self._keys_fetched_at = float("-inf")
        self._verified: dict[str, _Verified] = {}
        self._users: dict[int, _Current] = {}
        self._ended: dict[str, float] = {}
        self._forgot_at = 0.0
        self._position = 0
        self._fresh_at = float("-inf")
        self._fetching_keys = asyncio.Lock()
        self._began_at = time.time()

    async def run(self) -> None:
        """Read what happened to users, for ever; at most about _POLL seconds old while auth-service answers."""
        while True:
            try:
                await self._start()
                while True:
                    await asyncio.sleep(_POLL)
                    await self.refresh()
            except Unavailable as away:
                _log.warning("What happens to users cannot be read: %s", away.detail)
                await asyncio.sleep(_POLL)

    def is_fresh(self) -> bool:
        """Check whether what is known of users is recent enough to let anybody pass."""
        return time.monotonic() - self._fresh_at <= _MAX_STALENESS

    async def identify(self, token: str) -> Identity:
        """Return the user of a token, with the role as it is now; raise Unauthenticated or Unavailable."""
        if not self.is_fresh():
            raise Unavailable("Tokens cannot be checked right now; try again.")
        verified = self._verified.get(token)
        if verified is None:
            verified = await self._verify(token)
        if verified.expires_at <= time.time():
            self._verified.pop(token, None)
            raise bearer.expired()
        identity = verified.identity
        if identity.token_id in self._ended:
            raise bearer.ended()
        current = self._users.get(identity.id or 0)
        if current is None:
            return identity
        if not current.is_active or verified.issued_at < current.not_before:
            raise bearer.ended()
        if current.role is identity.role:
            return identity
        return Identity(identity.id, identity.email, current.role, identity.token_id, identity.token_expires_at)

    async def refresh(self) -> None:
        """Read auth-service's feed up to its head."""
        while True:
            asked_at = time.monotonic()
            response = await self._auth.get("/internal/changes", {"after": self._position, "limit": _PAGE})
            head, events = outbox.read_changes(response.content)
            self._apply(events)
            self._forget_expired()
            if self._position >= head:
                self._fresh_at = asked_at
                return

    async def _start(self) -> None:
        response = (await self._auth.get("/internal/access-changes")).json()
        self._users = {
            user["id"]: _Current(Role(user["role"]), user["is_active"], _seconds(user["tokens_not_before"]))
            for user in response["users"]
        }
        self._ended = {token["token_id"]: _seconds(token["expires_at"]) for token in response["ended_tokens"]}
        self._position = response["head"]
        await self._fetch_keys()
        await self.refresh()

    def _apply(self, events: Iterable[bytes]) -> None:
        for raw in events:
            message = Message.read(raw)
            if message.wire_name == UserCreated.wire_name:
                pass  # nobody holds a token of theirs yet
            elif message.wire_name == UserUpdated.wire_name:
                self._remember(message.decode(UserUpdated).data.user)
            elif message.wire_name == PasswordChanged.wire_name:
                self._remember(message.decode(PasswordChanged).data.user)
            elif message.wire_name == TokenEnded.wire_name:
                ended = message.decode(TokenEnded).data
                self._ended[ended.token_id] = ended.expires_at.timestamp()
            self._position = message.sequence

    def _remember(self, user: UserState) -> None:
        not_before = 0.0 if user.tokens_not_before is None else user.tokens_not_before.timestamp()
        self._users[user.id] = _Current(Role(user.role), user.is_active, not_before)

    def _forget_expired(self) -> None:
        """Once in a while: it looks at them all, and whoever logs in and out all the time must not make it dear."""
        now = time.time()
        if now < self._forgot_at + _FORGETTING:
            return
        self._forgot_at = now
        self._ended = {token_id: expires_at for token_id, expires_at in self._ended.items() if expires_at > now}

    async def _verify(self, token: str) -> _Verified:
        bearer.check_form(token, _MAX_TOKEN_LENGTH)
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != tokens.ALGORITHM or "crit" in header:
                raise bearer.wrong()
            kind = header.get("typ")
            if kind not in (tokens.TYPE, _FORMER_TYPE):
                raise bearer.wrong()
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
            if kind == _FORMER_TYPE and issued_at > self._began_at:
                raise bearer.wrong()
            if expires_at - issued_at > _LONGEST_LIFE:
                raise bearer.wrong()
            identity = Identity(
                int(claims["sub"]),
                str(claims["email"]),
                Role(claims["role"]),
                str(claims["jti"]),
                int(claims["exp"]),
            )
        except jwt.ExpiredSignatureError:  # the signature is right
            raise bearer.expired() from None
        except (jwt.InvalidTokenError, ValueError, TypeError):
            raise bearer.wrong() from None
        if len(self._verified) >= _CACHE_SIZE:
            self._verified.clear()
        verified = _Verified(identity, issued_at, expires_at)
        self._verified[token] = verified
        return verified

    async def _key(self, key_id: object) -> jwt.PyJWK:
        if not isinstance(key_id, str):
            raise bearer.wrong()
        if key_id not in self._keys:
            async with self._fetching_keys:
                # An unknown key id may be a new key, or nonsense: ask, but not for every such token.
                if time.monotonic() - self._keys_fetched_at > _KEY_FETCH_INTERVAL:
                    await self._fetch_keys()
        key = self._keys.get(key_id)
        if key is None:
            raise bearer.wrong()
        return key

    async def _fetch_keys(self) -> None:
        self._keys_fetched_at = time.monotonic()
        response = await self._auth.get("/api/v1/auth/jwks.json")
        self._keys = {key["kid"]: jwt.PyJWK(key) for key in response.json()["keys"]}


def _seconds(timestamp: str | None) -> float:
    return 0.0 if timestamp is None else datetime.fromisoformat(timestamp).timestamp()

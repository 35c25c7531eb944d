"""API tokens as they are now, in memory: from a snapshot at the start, then from auth-service's feed."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from chassis.core.identity import Identity, Role
from chassis.core.projects import NONE
from chassis.messaging.events import Message
from contracts import api_tokens
from contracts.api_tokens import PREFIX
from contracts.auth import ApiTokenCreated, ApiTokenRevoked
from gateway.auth import bearer, scopes

_HOUR = 3600
_LONGEST = 100
"""Characters beyond which no text is an API token, nor worth hashing."""


class Owner(Protocol):
    """The user that a token is of, as they are now."""

    @property
    def role(self) -> Role: ...

    @property
    def is_active(self) -> bool: ...

    @property
    def not_before(self) -> float: ...


@dataclass(slots=True)
class ApiToken:
    """A token that has not expired; times in seconds since the epoch."""

    id: int
    identity: Identity
    """The owner, with the role that they had when the token was last used."""
    scopes: frozenset[str]
    projects: frozenset[str] | None
    created_at: float
    expires_at: float
    is_revoked: bool
    used_in: int = field(default=0)
    """The hour in which it was last used, since the epoch."""


class ApiTokens:
    """The tokens that may pass, by their hashes; `owners` are users as they are now, by id, and has all of theirs."""

    def __init__(self) -> None:
        self._by_hash: dict[str, ApiToken] = {}
        self._by_id: dict[int, ApiToken] = {}
        self._used: dict[int, int] = {}

    def identify(self, token: str, owners: Mapping[int, Owner]) -> ApiToken:
        """Return what a token is now, its identity with the owner's role; raise Unauthenticated."""
        if len(token) > _LONGEST:
            raise bearer.no_api_token()
        known = self._by_hash.get(api_tokens.digest(token))
        if known is None:
            raise bearer.unknown_api_token() if api_tokens.is_whole(token) else bearer.no_api_token()
        now = time.time()
        if known.expires_at <= now:
            raise bearer.expired_api_token(known.identity)
        identity = known.identity
        owner = owners[identity.id or 0]
        if known.is_revoked or not owner.is_active or known.created_at < owner.not_before:
            raise bearer.ended_api_token(identity)
        if owner.role is not identity.role:
            known.identity = replace(identity, role=owner.role)
        hour = int(now) // _HOUR
        if hour != known.used_in:
            known.used_in = self._used[known.id] = hour
        return known

    def permit(self, token: str, owners: Mapping[int, Owner], method: str, path: str) -> ApiToken:
        """Return the same for a request; raise Unauthenticated, and Forbidden where its scopes do not allow that.

        `path` is that behind the API's prefix.
        """
        known = self.identify(token, owners)
        scopes.check(method, path, known.scopes)
        return known

    def start(self, rows: list[dict[str, Any]], emails: Mapping[int, str]) -> None:
        """Begin anew with the tokens of a snapshot, whose owners have these emails."""
        self._by_hash, self._by_id = {}, {}
        for row in rows:
            self._add(
                row["token_hash"],
                row["id"],
                row["user_id"],
                emails[row["user_id"]],
                row["scopes"],
                row["projects"],
                datetime.fromisoformat(row["created_at"]),
                datetime.fromisoformat(row["expires_at"]),
                is_revoked=row["is_revoked"],
                name=row.get("name", ""),  # an auth-service of the version before does not tell it
            )

    def created(self, message: Message) -> None:
        """Add the token of an ApiTokenCreated."""
        data = message.decode(ApiTokenCreated).data
        token = data.token
        self._add(
            data.token_hash,
            token.id,
            token.user_id,
            data.owner.email,
            token.scopes,
            token.projects,
            token.created_at,
            token.expires_at,
            name=token.name,
        )

    def revoked(self, message: Message) -> None:
        """End the token of an ApiTokenRevoked."""
        known = self._by_id.get(message.decode(ApiTokenRevoked).data.token.id)
        if known is not None:
            known.is_revoked = True

    def forget_expired(self) -> None:
        """Drop the tokens that expired an hour ago; until then whoever sends one is told that it has expired."""
        ended = time.time() - _HOUR
        self._by_hash = {digest: token for digest, token in self._by_hash.items() if token.expires_at > ended}
        self._by_id = {token.id: token for token in self._by_hash.values()}

    def take_used(self) -> dict[int, datetime]:
        """Return the tokens that were used in an hour that was not yet told of, with that hour; tell of it once."""
        used, self._used = self._used, {}
        return {id_: datetime.fromtimestamp(hour * _HOUR, UTC) for id_, hour in used.items()}

    def give_back(self, used: Mapping[int, datetime]) -> None:
        """Keep what `take_used` gave and could not be told: it is given again."""
        for id_, at in used.items():
            self._used.setdefault(id_, int(at.timestamp()) // _HOUR)

    def _add(
        self,
        digest: str,
        id_: int,
        user_id: int,
        email: str,
        granted: list[str] | tuple[str, ...],
        projects: list[str] | tuple[str, ...] | None,
        created_at: datetime,
        expires_at: datetime,
        *,
        is_revoked: bool = False,
        name: str,
    ) -> None:
        if id_ in self._by_id:
            return  # the event of one that the snapshot has, perhaps revoked since
        ends = expires_at.timestamp()
        self._by_hash[digest] = self._by_id[id_] = ApiToken(
            id_,
            Identity(user_id, email, None, f"{PREFIX}{id_}", int(ends), project=NONE, token_name=name),
            frozenset(granted),
            None if projects is None else frozenset(projects),
            created_at.timestamp(),
            ends,
            is_revoked,
        )

"""What has happened to users and tokens lately, API tokens and projects, from auth-service's feed."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from chassis.core.identity import Role
from chassis.core.problems import StorageFull, Unavailable
from chassis.messaging import outbox
from chassis.messaging.events import Message
from chassis.web.patience import Patience
from chassis.web.peers import Peer
from contracts.auth import (
    ApiTokenCreated,
    ApiTokenRevoked,
    KeysReplaced,
    PasswordChanged,
    PasswordReset,
    SessionsEnded,
    TokenEnded,
    UserCreated,
    UserErased,
    UserState,
    UserUpdated,
)
from gateway.auth.api_tokens import ApiTokens
from gateway.auth.projects import Projects

POLL = 1.0
_MAX_STALENESS = 15
"""Seconds without news from auth-service after which no request passes: a deactivated user must not stay in."""
_PAGE = 500
_PRUNE_EVERY = 60
"""Seconds between two looks for ended tokens that would have expired by now."""


@dataclass(frozen=True, slots=True)
class CurrentUser:
    """A user whose access has changed lately, as they are now; `not_before` is in seconds since the epoch."""

    role: Role
    is_active: bool
    not_before: float


class Revocations:
    """Follows auth-service's feed: `users` whose access has changed, and when `ended` tokens or sessions expire, by id.

    The owners of `api_tokens` are among the users, whether anything has changed for them or not.
    """

    def __init__(
        self, auth: Peer, fetch_keys: Callable[[], Awaitable[None]], *, patience: float = 0, at_hand: bool = False
    ) -> None:
        """`fetch_keys` is done when the keys that sign tokens were replaced: those of before must not be taken.

        `patience`: for how many seconds requests wait for news, at the start and when there were none for too long.
        `at_hand`: auth-service is in this process, so that a request which finds them too old reads them by itself:
        nothing is wrong then but that others had all the time.
        """
        self.users: dict[int, CurrentUser] = {}
        self.ended: dict[str, float] = {}
        self.api_tokens = ApiTokens()
        self.projects = Projects()
        self._auth = auth
        self._fetch_keys = fetch_keys
        self._keys_are_old = False
        self._pruned_at = 0.0
        self._position = 0
        self._fresh_at = float("-inf")
        self._reading = asyncio.Lock()
        self._patience = Patience(patience)
        self._at_hand = at_hand
        self._has_started = False
        self._no_room: StorageFull | None = None

    async def follow(self) -> None:
        """Follow the feed, at most about POLL seconds behind; raise Unavailable when auth-service does not answer."""
        self._has_started = False
        await self.refresh()
        while True:
            await asyncio.sleep(POLL)
            await self.refresh()

    def is_fresh(self) -> bool:
        """Check whether what is known is recent enough to let requests pass."""
        return time.monotonic() - self._fresh_at <= _MAX_STALENESS

    async def wait_for_news(self) -> None:
        """Wait until requests may pass; raise Unavailable when that takes too long."""
        while not self.is_fresh():
            if self._at_hand:
                async with self._reading:
                    if not self.is_fresh():  # else another request has read them
                        await self._catch_up()
            elif not await self._patience.wait():
                raise self._no_room or Unavailable("Tokens cannot be checked right now; try again.")

    async def has_news(self) -> bool:
        """Check whether requests may pass, without waiting for what is elsewhere."""
        if self._at_hand:
            with suppress(Unavailable):
                await self.wait_for_news()
        return self.is_fresh()

    async def refresh(self) -> None:
        """Read the feed up to its head."""
        async with self._reading:
            await self._catch_up()

    async def _catch_up(self) -> None:
        try:
            if not self._has_started:
                await self._read_access()
                self._has_started = True
            await self._read_feed()
        except StorageFull as full:
            self._no_room = full
            raise
        self._no_room = None

    async def _read_feed(self) -> None:
        while True:
            asked_at = time.monotonic()
            response = await self._auth.get("/internal/changes", {"after": self._position, "limit": _PAGE})
            page = outbox.read_changes(response.content, self._position)
            if self._position < page.pruned:
                # Whoever was away for so long may have missed that a token was ended.
                await self._read_access()
                self._keys_are_old = True
                continue
            self._apply(page.events)
            if self._keys_are_old:
                await self._fetch_keys()
                self._keys_are_old = False
            self._prune_expired()
            if self._position >= page.head:
                self._fresh_at = asked_at
                self._patience.found()
                return

    async def _read_access(self) -> None:
        response = (await self._auth.get("/internal/access-changes")).json()
        self.users = {
            user["id"]: CurrentUser(Role(user["role"]), user["is_active"], _seconds(user["tokens_not_before"]))
            for user in response["users"]
        }
        self.ended = {token["token_id"]: _seconds(token["expires_at"]) for token in response["ended_tokens"]}
        emails = {user["id"]: user["email"] for user in response["users"]}
        self.api_tokens.start(response["api_tokens"], emails)
        # Later than the head: what has happened since the head is in it, and comes again in its order.
        self.projects.start((await self._auth.get("/internal/projects")).json()["projects"])
        self._position = response["head"]

    def _apply(self, events: Iterable[bytes]) -> None:
        for raw in events:
            message = Message.read(raw)
            if message.wire_name == UserCreated.wire_name:
                pass  # they have no token yet
            elif message.wire_name == UserUpdated.wire_name:
                self._update(message.decode(UserUpdated).data.user)
            elif message.wire_name == PasswordChanged.wire_name:
                self._update(message.decode(PasswordChanged).data.user)
            elif message.wire_name == PasswordReset.wire_name:
                self._update(message.decode(PasswordReset).data.user)
            elif message.wire_name == UserErased.wire_name:
                self._update(message.decode(UserErased).data.user)
            elif message.wire_name == TokenEnded.wire_name:
                ended = message.decode(TokenEnded).data
                self.ended[ended.token_id] = ended.expires_at.timestamp()
            elif message.wire_name == KeysReplaced.wire_name:
                self._keys_are_old = True
            elif message.wire_name == SessionsEnded.wire_name:
                several = message.decode(SessionsEnded).data
                self.ended |= dict.fromkeys(several.session_ids, several.expires_at.timestamp())
            elif message.wire_name == ApiTokenCreated.wire_name:
                owner = message.decode(ApiTokenCreated).data.owner
                if owner.id not in self.users:  # else it is known as of later
                    self._update(owner)
                self.api_tokens.created(message)
            elif message.wire_name == ApiTokenRevoked.wire_name:
                self.api_tokens.revoked(message)
            else:
                self.projects.apply(message)
            self._position = message.sequence

    def _update(self, user: UserState) -> None:
        not_before = 0.0 if user.tokens_not_before is None else user.tokens_not_before.timestamp()
        self.users[user.id] = CurrentUser(Role(user.role), user.is_active, not_before)

    def _prune_expired(self) -> None:
        """Drop expired ones now and then: it looks at all, and somebody may log in and out all the time."""
        now = time.time()
        if now < self._pruned_at + _PRUNE_EVERY:
            return
        self._pruned_at = now
        self.ended = {token_id: expires_at for token_id, expires_at in self.ended.items() if expires_at > now}
        self.api_tokens.forget_expired()


def _seconds(timestamp: str | None) -> float:
    return 0.0 if timestamp is None else datetime.fromisoformat(timestamp).timestamp()

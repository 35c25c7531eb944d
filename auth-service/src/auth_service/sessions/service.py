"""Logging in, changing the password, logging out. No connection is held while a password is hashed."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any

from prometheus_client import Counter

from auth_service.api_tokens import repository as api_tokens
from auth_service.open_sessions import repository as open_sessions
from auth_service.open_sessions.repository import Begun
from auth_service.second_factor import repository as second_factors
from auth_service.second_factor import service as second_factor
from auth_service.second_factor.service import Required
from auth_service.sessions import repository, tokens
from auth_service.signing_keys.service import CurrentKey
from auth_service.throttle import service as throttle
from auth_service.throttle.service import Attempt
from auth_service.users import passwords_shown
from auth_service.users import repository as users
from auth_service.users import service as user_service
from auth_service.users.emails import account_name
from auth_service.users.passwords import Passwords
from auth_service.users.repository import Credentials, UserRow
from chassis.core.encryption import Cipher
from chassis.core.identity import Identity
from chassis.core.problems import Forbidden, Invalid, Problem, TooManyRequests, Unauthenticated
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, actor_of
from contracts.auth import UNKNOWN, LoginFailed, LoginSucceeded, PasswordChanged, TokenEnded
from contracts.tokens import LONGEST_LIFETIME, RENEWABLE

_TYPED_BYTES = 8
"""Enough to see that the same was typed again, and little for whoever would guess what it was."""

_FAILURES = Counter("traceline_login_failures_total", "Log-ins that were refused.", ("reason",))
for _reason in ("unknown_account", "wrong_password", "account_inactive", "throttled", "wrong_second_factor"):
    _FAILURES.labels(_reason)  # there from the start, so that the first one shows as a rise


@dataclass(frozen=True, slots=True)
class Login:
    """Logs users in: the same answer at the same cost for a wrong email and a wrong password."""

    database: Database
    passwords: Passwords
    signing_key: CurrentKey
    token_lifetime: timedelta
    hash_key: bytes
    """Keys the hash of a user name that no account has; 64 bytes at most."""
    only: str | None = None
    """The email of whom alone a password lets in; None: everybody."""
    second_factor_required: Required = Required.NOBODY
    cipher: Cipher | None = None
    """What secrets of second factors are encrypted with."""

    async def __call__(self, username: str, password: str, otp: str | None, address: str, agent: str) -> str:
        """Return an access token, the first of a session; `agent` is what the caller calls itself.

        Raises Unauthenticated invalid_credentials, Forbidden password_login_off and TooManyRequests; and with the right
        password only Forbidden account_inactive, and Unauthenticated second_factor_required, _invalid or _used.
        """
        account = account_name(username)
        if self.only is not None and account != self.only:
            raise password_login_off()
        try:
            attempt = await throttle.begin(self.database, account, address)
        except TooManyRequests:
            _FAILURES.labels("throttled").inc()
            raise
        async with self.database.connection() as connection:
            found = await users.credentials(connection, account)
        known_hash = None if found is None else found["password_hash"]
        matches = await self.passwords.matches(password, known_hash)
        if found is None or not matches:
            if found is None:
                await self._refuse(attempt, self._unknown(account, address))
            else:
                await self._refuse(attempt, LoginFailed(email=account, address=address, reason="wrong_password"))
            raise _wrong_credentials()
        newer_hash = await self.passwords.hash(password) if self.passwords.is_outdated(found["password_hash"]) else None
        outcome = await self._issue(found, newer_hash, attempt, otp, address, agent)
        if isinstance(outcome, Problem):
            raise outcome
        return outcome

    async def of_provider(self, user_id: int, address: str, agent: str, provider_session: str) -> str:
        """Return an access token, the first of a session, for whom the identity provider has signed in.

        `provider_session` is the id of the session there, empty where none is told. Raises Forbidden account_inactive.
        """
        async with self.database.transaction() as connection:
            user, now = await user_service.locked(connection, user_id)
            if user["is_active"]:
                return await self._start(connection, user, now, address, agent, provider_session)
            failed = LoginFailed(email=user["email"], address=address, reason="account_inactive")
            await outbox.record(connection, [_event(failed)])
        _FAILURES.labels("account_inactive").inc()
        raise _inactive()

    async def renew(self, identity: Identity, address: str, agent: str) -> str:
        """Return a new token for whom the caller's token is of; that one works on until its own end.

        Raises Unauthenticated when the token works no more, as of now and not of when the gateway last looked, or when
        the log-in is too long ago.
        """
        assert identity.id is not None, "only users have tokens"
        async with self.database.transaction() as connection:
            user, now = await user_service.locked(connection, identity.id)
            # Before the question whether it was ended: who ends it as idle holds its row until that is said.
            await self._begin(connection, identity.session_id, user, now, address, agent)
            not_before = user["tokens_not_before"]
            # Whoever logged in before that has no token that was issued after it.
            is_revoked = not_before is not None and identity.logged_in_at < not_before.timestamp()
            if is_revoked or not user["is_active"] or await repository.is_ended(connection, identity):
                raise _works_no_more()
            if now.timestamp() - identity.logged_in_at > RENEWABLE.total_seconds():
                raise _logged_in_too_long_ago()
            key = await self.signing_key.read(connection)
            must_enrol = await self._must_enrol(connection, user, identity.session_id)
        return tokens.issue(
            user,
            key,
            now,
            self.token_lifetime,
            identity.session_id,
            identity.logged_in_at,
            must_enrol=must_enrol,
        )

    async def _issue(
        self,
        verified: Credentials,
        newer_hash: str | None,
        attempt: Attempt,
        otp: str | None,
        address: str,
        agent: str,
    ) -> str | Problem:
        """Return a token, or why there is none although `verified` matched the password before."""
        async with self.database.transaction() as connection:
            user, now = await user_service.locked(connection, verified["id"])
            if user["password_hash"] != verified["password_hash"]:
                # It was changed meanwhile: a token from the old password must not outlive the change.
                raise _wrong_credentials()
            if user["is_active"] and await second_factors.is_active(connection, user["id"]):
                if otp is None:
                    # Neither right nor wrong so far: what else was tried stays counted.
                    await throttle.withdrawn(connection, attempt)
                    return _second_factor_required()
                shown = await second_factor.show(connection, self.cipher, user["id"], user["email"], otp)
                if shown is not second_factor.Shown.RIGHT:
                    failure = LoginFailed(email=attempt.account, address=address, reason="wrong_second_factor")
                    await throttle.failed(connection, attempt, failure)
                    _FAILURES.labels(failure.reason).inc()
                    return second_factor.refusal(shown)
            await throttle.succeeded(connection, attempt)
            if newer_hash is not None:
                await repository.set_password_hash(connection, user["id"], newer_hash)
            if not user["is_active"]:
                failed = LoginFailed(email=attempt.account, address=address, reason="account_inactive")
                await outbox.record(connection, [_event(failed)])
                _FAILURES.labels(failed.reason).inc()
                return _inactive()
            return await self._start(connection, user, now, address, agent)

    async def _start(
        self,
        connection: Connection,
        user: UserRow,
        now: datetime,
        address: str,
        agent: str,
        provider_session: str | None = None,
    ) -> str:
        """Return the first token of a new session, in whatever way somebody has logged in.

        `provider_session` is the session's id at the identity provider, empty where none is told; None: a password.
        """
        key = await self.signing_key.read(connection)
        session_id = uuid.uuid4().hex
        await self._begin(connection, session_id, user, now, address, agent)
        if provider_session is not None:
            await open_sessions.set_provider_session(connection, session_id, provider_session)
        way = "password" if provider_session is None else "single_sign_on"
        succeeded = LoginSucceeded(user_id=user["id"], session_id=session_id, way=way, address=address, agent=agent)
        actor = Actor(user["id"], user["email"])
        await outbox.record(connection, [NewEvent(succeeded, subject=str(user["id"]), actor=actor)])
        must_enrol = await self._must_enrol(connection, user, session_id)
        return tokens.issue(user, key, now, self.token_lifetime, session_id, must_enrol=must_enrol)

    async def _must_enrol(self, connection: Connection, user: UserRow, session_id: str) -> bool:
        """Check whether a user has to have a second factor, and has none: the identity provider asks for its own."""
        return (
            self.second_factor_required.holds_for(user["role"])
            and not await second_factors.is_active(connection, user["id"])
            and not await open_sessions.is_of_provider(connection, session_id)
        )

    async def _begin(
        self, connection: Connection, session_id: str, user: UserRow, now: datetime, address: str, agent: str
    ) -> None:
        begun = Begun(session_id, user["id"], now, now + self.token_lifetime, address, agent)
        await open_sessions.begin(connection, begun)

    async def _refuse(self, attempt: Attempt, failure: LoginFailed) -> None:
        async with self.database.transaction() as connection:
            await throttle.failed(connection, attempt, failure)
        _FAILURES.labels(failure.reason).inc()

    def _unknown(self, typed: str, address: str) -> LoginFailed:
        """Return the failure of a name that no account has: perhaps a password, typed into the wrong field."""
        hashed = blake2b(typed.encode(), key=self.hash_key, digest_size=_TYPED_BYTES).hexdigest()
        return LoginFailed(email=UNKNOWN, address=address, reason="unknown_account", typed=hashed)


async def change_password(
    database: Database,
    passwords: Passwords,
    identity: Identity,
    address: str,
    current_password: str,
    new_password: str,
) -> None:
    """Change the caller's password, and end every token issued before and every link by which it could be reset.

    Raises Unauthenticated invalid_credentials when `current_password` is not theirs, and TooManyRequests: with a
    stolen token guessing is no faster than at the log-in; Invalid when it is the same password.
    """
    if new_password == current_password:
        raise Invalid.field("/new_password", "This is the password that you have; choose another.", "same_password")
    shown = await passwords_shown.check(database, passwords, identity, address, current_password)
    new_hash = await passwords.hash(new_password)
    async with database.transaction() as connection:
        user, now = await user_service.locked(connection, shown.user_id)
        if user["password_hash"] != shown.password_hash:
            raise passwords_shown.wrong_password()
        await throttle.succeeded(connection, shown.attempt)
        user["tokens_not_before"] = now
        event = NewEvent(
            PasswordChanged(user=user_service.state(user)),
            subject=str(user["id"]),
            actor=actor_of(identity),
        )
        await users.update(
            connection,
            user["id"],
            {
                "password_hash": new_hash,
                "must_change_password": False,
                "tokens_not_before": now,
                "access_changed_at": now,
            },
            event,
        )
        await users.end_links(connection, user["id"])


async def log_out(database: Database, identity: Identity) -> None:
    """End the session of the token that the caller came with; the same once more changes nothing."""
    assert identity.id is not None, "only users have tokens that end"
    expires_at = datetime.fromtimestamp(identity.token_expires_at, UTC)
    async with database.transaction() as connection:
        # A renewal holds the same lock: its token cannot outlive what is ended here.
        await user_service.locked(connection, identity.id)
        ends_at = await open_sessions.forget(connection, identity.session_id)
        if ends_at is not None:
            expires_at = max(expires_at, ends_at)
        event = NewEvent(
            TokenEnded(user_id=identity.id, token_id=identity.session_id, expires_at=expires_at),
            subject=str(identity.id),
            actor=actor_of(identity),
        )
        await repository.end_token(connection, identity.session_id, expires_at, event)


async def access_changes(database: Database) -> dict[str, Any]:
    """Return what restricts tokens that were issued already, API tokens, and the `head` of the feed as of before.

    A change is in the answer, in the feed after `head`, or in both: none is missed.
    """
    head = await outbox.number(database)
    async with database.connection() as connection:
        tokens_known = await api_tokens.known(connection)
        return {
            "head": head,
            **await repository.access_changes(connection, LONGEST_LIFETIME),
            "api_tokens": tokens_known,
        }


def password_login_off() -> Forbidden:
    """The problem of a password where people sign in at the identity provider alone."""
    return Forbidden(
        "Passwords let nobody in here; open the page of Traceline in a browser and sign in with single sign-on.",
        code="password_login_off",
    )


def _event(failure: LoginFailed) -> NewEvent:
    return NewEvent(failure, subject=failure.email, actor=throttle.ANONYMOUS)


def _wrong_credentials() -> Unauthenticated:
    return Unauthenticated("The email or the password is wrong.", code="invalid_credentials")


def _inactive() -> Forbidden:
    return Forbidden("This account is not active; ask an admin to activate it.", code="account_inactive")


def _second_factor_required() -> Unauthenticated:
    return Unauthenticated(
        "This account has a second factor: send the code of your phone, or a recovery code, as `otp`, too.",
        code="second_factor_required",
    )


def _works_no_more() -> Unauthenticated:
    return Unauthenticated(
        "This access token works no more: its user has logged out, changed the password or been deactivated since;"
        " log in again."
    )


def _logged_in_too_long_ago() -> Unauthenticated:
    hours = RENEWABLE // timedelta(hours=1)
    return Unauthenticated(
        f"The log-in is more than {hours} hours ago, so its token is not renewed; log in again.",
        code="login_too_old",
    )

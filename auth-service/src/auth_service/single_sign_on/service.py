"""Signing in at the provider, and being logged out by it.

What a sign-in needs at its end is in no process: the state is a row, of which only the hash is stored, and the code
verifier and the nonce are made of it and of the secret in the browser's cookie. So any gateway and any replica can end
what another began, and whoever reads the database can end none.
"""

import hmac
import logging
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from pydantic_core import PydanticCustomError

from auth_service.invitations import service as invitations
from auth_service.open_sessions import service as open_sessions
from auth_service.password_reset import service as password_reset
from auth_service.projects import service as projects
from auth_service.sessions.service import Login
from auth_service.single_sign_on import repository
from auth_service.single_sign_on.groups import Grant, Groups
from auth_service.single_sign_on.provider import Claims, Provider
from auth_service.single_sign_on.repository import Wish
from auth_service.users import repository as users
from auth_service.users import service as user_service
from auth_service.users.emails import parse_email
from auth_service.users.passwords import Passwords
from chassis.core.identity import Identity, Role
from chassis.core.problems import Conflict, Forbidden, Invalid, MalformedBody, NotFound, Problem, Unauthenticated
from chassis.db.database import Connection, Database
from chassis.messaging.events import SYSTEM, NewEvent
from contracts.auth import UserUpdated

_log = logging.getLogger(__name__)

LIFETIME = timedelta(minutes=10)
"""How long a sign-in may take at the provider."""
_REMEMBERED = timedelta(hours=1)
_OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,1999}")
_ERROR = re.compile(r"[a-z_]{1,40}")
_BY_PROVIDER = Identity(id=None, email=SYSTEM.email, role=Role.ADMIN)
"""Changes memberships as the map of groups says."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a browser brings back from the provider; what is not there is empty."""

    code: str
    state: str
    issuer: str
    error: str


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """Signs people in who have proved at `provider` who they are; `groups` None: it does not say what they may."""

    database: Database
    passwords: Passwords
    login: Login
    provider: Provider
    groups: Groups | None
    takes_anybody: bool
    """Whether accounts may have been made here with addresses that nobody has confirmed."""
    break_glass: str
    """The email of the admin whose password always works."""

    async def begin(self, browser: str, wish: Wish) -> str:
        """Return where to send a browser that keeps the secret `browser`; raise Invalid, and Unavailable."""
        if not _OWN_PATH.fullmatch(wish.return_to):
            raise Invalid.field("/query/return_to", "This must be a path of Traceline, such as /p/MAIN.", "not_a_path")
        state = secrets.token_urlsafe(32)
        address = await self.provider.sign_in_address(
            state=state, nonce=_derived(browser, state, "nonce"), verifier=_derived(browser, state, "verifier")
        )
        async with self.database.statement() as connection:
            await repository.begin(connection, _hash(state), _hash(browser), wish, LIFETIME)
        return address

    async def complete(self, answered: Answered, browser: str, address: str, agent: str) -> tuple[str, str]:
        """Return an access token, the first of a session, and the path to go on at.

        Raises Unauthenticated for what is not the answer to a sign-in of this browser or not true, Forbidden and
        Conflict for people who get no session, and Unavailable.
        """
        state = answered.state
        if not state or not browser:
            raise _not_begun()
        async with self.database.transaction() as connection:
            wish = await repository.take(connection, _hash(state), _hash(browser))
        if wish is None:
            raise _not_begun()
        if answered.issuer not in ("", self.provider.issuer):  # RFC 9207
            raise Unauthenticated(
                "This answer is of another identity provider than Traceline's; sign in again.", code="issuer_wrong"
            )
        if answered.error or not answered.code:
            named = answered.error if _ERROR.fullmatch(answered.error) else "no code"
            raise Forbidden(
                f"The identity provider did not sign you in ({named}); try again, or ask whoever runs it.",
                code="sign_in_refused",
            )
        claims = await self.provider.redeem(
            answered.code, nonce=_derived(browser, state, "nonce"), verifier=_derived(browser, state, "verifier")
        )
        grant = self._grant(claims)
        user_id = await self._account(claims, grant)
        if grant is not None:
            await self._apply(user_id, grant)
        token = await self.login.of_provider(user_id, address, agent, _text(claims, "sid"))
        if wish.earlier_session is not None:
            async with self.database.transaction() as connection:
                await open_sessions.end_earlier(connection, wish.earlier_session)
        return token, wish.return_to

    async def log_out(self, logout_token: str) -> None:
        """End the sessions that a logout token of the provider names; raise MalformedBody."""
        claims = await self.provider.logout_claims(logout_token)
        subject, session = claims.get("sub"), _text(claims, "sid") or None
        async with self.database.transaction() as connection:
            if not await repository.use_logout_token(connection, _hash(claims["jti"]), _REMEMBERED):
                raise MalformedBody("This logout token was used before.", code="logout_token_used")
            if subject is not None:
                user_id = await repository.user_of(connection, self.provider.issuer, subject)
            else:
                user_id = await repository.user_of_session(connection, session or "")
            if user_id is not None:
                await open_sessions.end_by_provider(connection, user_id, session)

    def _grant(self, claims: Claims) -> Grant | None:
        if self.groups is None:
            return None
        grant = self.groups.of(claims)
        if grant is None:
            raise Forbidden(
                "You are in no group at the identity provider that may use Traceline; ask whoever runs it for one.",
                code="not_in_group",
            )
        return grant

    async def _account(self, claims: Claims, grant: Grant | None) -> int:
        """Return the id of somebody's account, which is made or linked when they come for the first time."""
        issuer, subject = self.provider.issuer, claims["sub"]
        async with self.database.connection() as connection:
            known = await repository.user_of(connection, issuer, subject)
        if known is not None:
            return known
        email, is_verified = _email(claims), claims.get("email_verified") in (True, "true")
        # Nobody knows it: the account has no password until its owner asks for a link to choose one.
        password_hash = await self.passwords.hash(secrets.token_urlsafe(32))
        async with self.database.transaction() as connection:
            await repository.lock_subject(connection, issuer, subject)
            known = await repository.user_of(connection, issuer, subject)
            if known is not None:
                return known
            found = await users.credentials(connection, email)
            if found is not None:
                await self._link(connection, found["id"], subject, password_hash, is_verified=is_verified)
                return found["id"]
            invitation = await invitations.locked_of(connection, email) if is_verified else None
            invited_as = Role.VIEWER if invitation is None else invitations.role_of(invitation)
            user = await user_service.create(
                connection,
                email=email,
                full_name=_full_name(claims, email),
                role=invited_as if grant is None else grant.role,
                password_hash=password_hash,
                actor="themself",
            )
            user_id: int = user["id"]
            await repository.link(connection, issuer, subject, user_id, datetime.now(UTC))
            if invitation is not None:
                await invitations.use(connection, invitation, user)
            return user_id

    async def _link(
        self, connection: Connection, user_id: int, subject: str, password_hash: str, *, is_verified: bool
    ) -> None:
        """Make an account that is there somebody's at the provider; raise Conflict."""
        issuer = self.provider.issuer
        user, now = await user_service.locked(connection, user_id)
        if not is_verified:
            raise Conflict(
                f"There is an account for {user['email']}, and the identity provider does not say that this address is"
                " yours: have it confirmed there, or ask an admin.",
                code="email_not_verified",
            )
        if not await users.is_person(connection, user_id) or await repository.is_linked(connection, issuer, user_id):
            raise Conflict(
                f"The account for {user['email']} is that of somebody else at the identity provider; ask an admin for"
                " an account with another address.",
                code="account_linked",
            )
        if (self.takes_anybody or user["must_change_password"]) and user["email"] != self.break_glass:
            # Whoever has registered with the address need not be its owner, and a password that somebody else chose is
            # not to be asked for by whoever needs none.
            await password_reset.by_provider(connection, user, now, password_hash)
        await repository.link(connection, issuer, subject, user_id, now)
        changes = {"identity_provider": {"before": None, "after": issuer}}
        payload = UserUpdated(user=user_service.state(user), changes=changes)
        event = NewEvent(payload, subject=str(user_id), actor=SYSTEM)
        await users.update(connection, user_id, {"full_name": user["full_name"]}, event)

    async def _apply(self, user_id: int, grant: Grant) -> None:
        """Give somebody the role and the memberships of their groups, and take those that they have no more."""
        assert self.groups is not None
        async with self.database.connection() as connection:
            shown = (await users.shown(connection, [user_id]))[user_id]
            memberships = await repository.memberships(connection, user_id)
        if not shown["is_active"]:
            return
        if shown["role"] != grant.role:
            with _logged(f"user {user_id} keeps the role {shown['role']}"):
                await user_service.change(
                    self.database, user_id, {"role": grant.role.value}, actor=SYSTEM, check_precondition=_any
                )
        for key in sorted(self.groups.projects):
            wanted, present = grant.projects.get(key), memberships.get(key)
            if wanted == present:
                continue
            with _logged(f"user {user_id} stays {present or 'no member'} in {key}"):
                if wanted is None:
                    await projects.remove_member(self.database, key, user_id, _BY_PROVIDER, _any)
                else:
                    await projects.put_member(self.database, key, user_id, wanted, _BY_PROVIDER, _any)


async def forget_old(database: Database) -> None:
    """Delete sign-ins that nobody has ended, and what is known of logout tokens that are too old to come again."""
    async with database.transaction() as connection:
        await repository.prune(connection)


class _logged:  # noqa: N801 - a context manager, used as one
    """Has a log-in go on where a project is gone or archived, or somebody is the last admin: the log says so."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, Conflict | NotFound):
            return False
        _log.warning("The map of OIDC_GROUPS cannot be followed: %s (%s).", self._what, error.detail)
        return True


def _any(_: object) -> None:
    """Let a change be made whatever is there."""


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _derived(browser: str, state: str, purpose: str) -> str:
    """Return 43 characters that nobody can make who lacks the browser's secret."""
    made = hmac.digest(browser.encode(), f"{purpose} {state}".encode(), "sha256")
    return urlsafe_b64encode(made).rstrip(b"=").decode()


def _text(claims: Mapping[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _email(claims: Claims) -> str:
    try:
        return parse_email(_text(claims, "email"))
    except PydanticCustomError:
        raise Forbidden(
            "The identity provider tells Traceline no email address of yours; ask whoever runs it to give one in the"
            " claim email.",
            code="email_missing",
        ) from None


def _full_name(claims: Claims, email: str) -> str:
    parts = (_text(claims, "given_name"), _text(claims, "family_name"))
    name = _text(claims, "name") or " ".join(part for part in parts if part) or email.partition("@")[0]
    return " ".join(name.replace("\0", "").split())[:200] or email


def _not_begun() -> Problem:
    return Unauthenticated(
        "This sign-in was not begun in this browser, took longer than ten minutes, or has been used; sign in again.",
        code="sign_in_not_begun",
    )

"""Having a second factor, showing it, and losing it."""

import logging
import secrets
import time
from base64 import b32encode, b64decode, b64encode
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest

import pyotp

from auth_service.open_sessions import service as open_sessions
from auth_service.second_factor import repository
from auth_service.throttle import service as throttle
from auth_service.users import passwords_shown
from auth_service.users import service as user_service
from auth_service.users.passwords import Passwords
from chassis.core.encryption import Cipher, NotReadable
from chassis.core.identity import Identity, Role
from chassis.core.problems import Conflict, Invalid, Unauthenticated
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, actor_of
from contracts.auth import WRONG_CURRENT_CODE, LoginFailed, RecoveryCodeUsed, SecondFactorChanged

Work = Callable[[Connection, int], Awaitable[None]]
"""What is done for the user with this id."""

_log = logging.getLogger(__name__)
_ISSUER = "Traceline"
_ENCRYPTED = "encrypted:"
"""What an encrypted secret begins with; others are in base 32."""
_STEP = 30
"""Seconds that a code of the phone lasts; the one before and the one after count, too: clocks differ."""
_RECOVERY_CODES = 10
_RECOVERY_BYTES = 16


class Required(StrEnum):
    """Of whom REQUIRE_SECOND_FACTOR asks for one."""

    NOBODY = "nobody"
    ADMINS = "admins"
    ALL = "all"

    def holds_for(self, role: str) -> bool:
        """Check whether an account with this role has to have one."""
        return self is Required.ALL or (self is Required.ADMINS and role == Role.ADMIN)


class Shown(StrEnum):
    """What became of a code."""

    RIGHT = "right"
    WRONG = "wrong"
    USED = "used"


@dataclass(frozen=True, slots=True)
class Claim:
    """What somebody who has a second factor shows to change it, and from where."""

    identity: Identity
    address: str
    password: str = field(repr=False)
    code: str = field(repr=False)


async def encrypt_all(database: Database, cipher: Cipher | None) -> None:
    """Encrypt the secrets that are not yet, or by an earlier secret of the setting."""
    if cipher is None:
        return
    done = 0
    async with database.connection() as connection:
        for row in await repository.secrets(connection, but=None if cipher.has_earlier else _ENCRYPTED):
            stored, user_id = row["secret"], row["user_id"]
            secret, is_current = _opened(stored, user_id, cipher)
            # Nobody waits for this: whoever has begun another one meanwhile keeps that.
            if secret is not None and not is_current:
                done += await repository.replace_secret(connection, user_id, stored, _stored(secret, user_id, cipher))
    if done:
        _log.info("Encrypted the secrets of %d second factors; dumps of before have them as they were.", done)


async def show(connection: Connection, cipher: Cipher | None, user_id: int, email: str, code: str) -> Shown:
    """Check a code of the phone or a recovery code of a user with an active second factor; each counts once."""
    found = await repository.find(connection, user_id)
    assert found is not None, "asked for only where there is one"
    step = _step_of(_secret(found["secret"], user_id, cipher), code)
    if step is not None:
        return Shown.RIGHT if await repository.use_step(connection, user_id, step) else Shown.USED
    if not await repository.use_recovery_code(connection, user_id, _hash(code)):
        return Shown.WRONG
    payload = RecoveryCodeUsed(user_id=user_id, email=email, left=len(found["recovery_hashes"]) - 1)
    await outbox.record(connection, [NewEvent(payload, subject=str(user_id), actor=Actor(user_id, email))])
    return Shown.RIGHT


def refusal(shown: Shown) -> Unauthenticated:
    """Return the problem of a code that does not count."""
    if shown is Shown.USED:
        return Unauthenticated("This code was used already; wait for the next one.", code="second_factor_used")
    return Unauthenticated(
        "The code is wrong: send the 6 digits that your phone shows now, or a recovery code.",
        code="second_factor_invalid",
    )


async def begin(
    database: Database, passwords: Passwords, cipher: Cipher | None, identity: Identity, address: str, password: str
) -> tuple[str, str]:
    """Return a new secret and its URI; raise Unauthenticated, TooManyRequests, and Conflict second_factor_active."""
    shown = await passwords_shown.check(database, passwords, identity, address, password)
    secret = pyotp.random_base32()
    async with database.transaction() as connection:
        await user_service.locked(connection, shown.user_id)
        await throttle.succeeded(connection, shown.attempt)
        is_active = await repository.is_active(connection, shown.user_id)
        if not is_active:
            await repository.begin(connection, shown.user_id, _stored(secret, shown.user_id, cipher))
    if is_active:
        raise Conflict("You have a second factor; remove it before you begin anew.", code="second_factor_active")
    return secret, pyotp.TOTP(secret).provisioning_uri(name=identity.email, issuer_name=_ISSUER)


async def confirm(database: Database, cipher: Cipher | None, identity: Identity, code: str) -> list[str]:
    """Have the second factor that was begun count; return new recovery codes. Raise Conflict and Invalid."""
    assert identity.id is not None, "only users have one"
    async with database.transaction() as connection:
        _, now = await user_service.locked(connection, identity.id)
        found = await repository.find(connection, identity.id)
        if found is None or found["confirmed_at"] is not None:
            raise Conflict("Begin with POST /api/v1/auth/second-factor.", code="second_factor_not_begun")
        step = _step_of(_secret(found["secret"], identity.id, cipher), code)
        if step is None:
            detail = "This is not the code that your phone should show now; are its clock and the secret right?"
            raise Invalid.field("/code", detail, "wrong_code")
        await repository.use_step(connection, identity.id, step)
        codes = _recovery_codes()
        await repository.confirm(connection, identity.id, now, [_hash(one) for one in codes])
        await _tell(connection, identity.id, identity.email, actor_of(identity), is_active=True)
    return codes


async def renew_recovery_codes(
    database: Database, passwords: Passwords, cipher: Cipher | None, claim: Claim
) -> list[str]:
    """Return new recovery codes, in place of those from before; raise Unauthenticated and TooManyRequests."""
    codes = _recovery_codes()

    async def renew(connection: Connection, user_id: int) -> None:
        await repository.set_recovery_hashes(connection, user_id, [_hash(one) for one in codes])

    await _proved(database, passwords, cipher, claim, renew)
    return codes


async def remove(database: Database, passwords: Passwords, cipher: Cipher | None, claim: Claim) -> None:
    """Remove the caller's second factor; raise Unauthenticated, TooManyRequests, and Conflict no_second_factor."""

    async def delete(connection: Connection, user_id: int) -> None:
        await repository.delete(connection, user_id)
        await _tell(connection, user_id, claim.identity.email, actor_of(claim.identity), is_active=False)

    await _proved(database, passwords, cipher, claim, delete)


async def take_away(database: Database, user_id: int, actor: Actor) -> None:
    """Remove the second factor of somebody else, whose phone is lost, if there is one."""
    async with database.transaction() as connection:
        await _take_away(connection, user_id, actor)


async def take_away_by_admin(database: Database, admin: Identity, user_id: int) -> None:
    """Do the same for an admin, and end the sessions of the user; raise NotFound."""
    async with database.transaction() as connection:
        if await _take_away(connection, user_id, actor_of(admin)):
            await open_sessions.end_all_within(connection, user_id, actor_of(admin))


async def _take_away(connection: Connection, user_id: int, actor: Actor) -> bool:
    """Remove the second factor of a user; return whether there was one that counted."""
    user, _ = await user_service.locked(connection, user_id)
    was_active = await repository.delete(connection, user_id)
    if was_active:
        await _tell(connection, user_id, user["email"], actor, is_active=False)
    return was_active


async def _proved(database: Database, passwords: Passwords, cipher: Cipher | None, claim: Claim, work: Work) -> None:
    """Do work for a user who shows password and code; wrong ones count as failed log-ins."""
    shown = await passwords_shown.check(database, passwords, claim.identity, claim.address, claim.password)
    email = claim.identity.email
    problem: Exception | None = None
    async with database.transaction() as connection:
        await user_service.locked(connection, shown.user_id)
        if not await repository.is_active(connection, shown.user_id):
            await throttle.withdrawn(connection, shown.attempt)
            problem = Conflict("You have no second factor.", code="no_second_factor")
        elif (found := await show(connection, cipher, shown.user_id, email, claim.code)) is not Shown.RIGHT:
            failure = LoginFailed(email=email, address=claim.address, reason=WRONG_CURRENT_CODE)
            await throttle.failed(connection, shown.attempt, failure)
            problem = refusal(found)
        else:
            await throttle.succeeded(connection, shown.attempt)
            await work(connection, shown.user_id)
    if problem is not None:
        raise problem


async def _tell(connection: Connection, user_id: int, email: str, actor: Actor, *, is_active: bool) -> None:
    payload = SecondFactorChanged(user_id=user_id, email=email, is_active=is_active)
    await outbox.record(connection, [NewEvent(payload, subject=str(user_id), actor=actor)])


def _stored(secret: str, user_id: int, cipher: Cipher | None) -> str:
    """Return what is stored of a secret."""
    if cipher is None:
        return secret
    return _ENCRYPTED + b64encode(cipher.encrypt(secret.encode(), _place(user_id))).decode()


def _secret(stored: str, user_id: int, cipher: Cipher | None) -> str | None:
    """Return a secret as it is; None when this cipher cannot tell it: recovery codes still work."""
    return _opened(stored, user_id, cipher)[0]


def _opened(stored: str, user_id: int, cipher: Cipher | None) -> tuple[str | None, bool]:
    """Return the same, and whether the first secret of the cipher has encrypted it."""
    if not stored.startswith(_ENCRYPTED):
        return stored, False
    try:
        if cipher is None:
            raise NotReadable
        secret, is_current = cipher.opened(b64decode(stored.removeprefix(_ENCRYPTED)), _place(user_id))
        return secret.decode(), is_current
    except NotReadable:
        _log.error(
            "The second factor of user %d is encrypted with another DATA_ENCRYPTION_KEY; set that, or remove it"
            " (python -m auth_service.reset_password).",
            user_id,
        )
        return None, False


def _place(user_id: int) -> str:
    return f"second_factors/{user_id}"


def _step_of(secret: str | None, code: str) -> int | None:
    """Return the time step whose code this is; None when it is none of now."""
    if secret is None:
        return None
    now = int(time.time()) // _STEP
    totp = pyotp.TOTP(secret)
    typed = "".join(code.split())
    for step in (now, now - 1, now + 1):
        if compare_digest(totp.at(step * _STEP).encode(), typed.encode()):
            return step
    return None


def _recovery_codes() -> list[str]:
    """Return codes of 128 random bits, in groups that people can type."""
    codes = (
        b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().rstrip("=").lower() for _ in range(_RECOVERY_CODES)
    )
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


def _hash(code: str) -> str:
    """Return what is stored of a recovery code, however it was typed."""
    return sha256("".join(code.split()).replace("-", "").lower().encode()).hexdigest()

"""Rotation without logging anyone out.

A new key is published before it signs, so that whoever checks tokens knows it by then; the newest key whose time
has come signs; an old one stays published until the last token that it signed has expired. The private keys lie
in the database of auth-service, encrypted where DATA_ENCRYPTION_KEY is set. Where it is not, whoever may read it, or a
backup of it, may sign as anyone: it is to be guarded, and backed up, like a secret.
"""

import logging
import time
import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg.rows import DictRow

from auth_service.signing_keys import repository
from chassis.core.encryption import Cipher, NotReadable
from chassis.core.start_failure import StartFailure
from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, NewEvent
from contracts.auth import KeysReplaced
from contracts.tokens import ALGORITHM

_log = logging.getLogger(__name__)

PUBLISHED_AHEAD = timedelta(minutes=5)
"""How long a key is public before it signs; whoever checks tokens must look for new keys more often."""

KEPT_BY_READERS = timedelta(minutes=1)
"""How long a reader of the public keys may keep what it read."""

_KEPT_BY_SIGNER = 5.0
"""Seconds for which a replica signs with the key that it read."""

_MARGIN = timedelta(minutes=1)
"""More than what replicas that keep a key, and clocks that differ, can add to the life of a token."""


_RAW_LENGTH = 32
"""Of a private key that is not encrypted."""


_ADVICE = (
    "Give it the value of before; if that is lost, python -m auth_service.rotate_keys --at-once makes a new"
    " signing key, and everybody has to log in again."
)


class KeyNotReadable(StartFailure):
    """A private key is encrypted with something else than what this program has; the message says what to do."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and the id under which its public half is published."""

    kid: str
    private_key: Ed25519PrivateKey


class CurrentKey:
    """The key that signs now, cached for a few seconds."""

    def __init__(self, cipher: Cipher | None) -> None:
        self._cipher = cipher
        self._key: SigningKey | None = None
        self._read_at = 0.0

    async def read(self, connection: Connection) -> SigningKey:
        """Return the key."""
        if self._key is not None and time.monotonic() < self._read_at + _KEPT_BY_SIGNER:
            return self._key
        row = await repository.signing(connection)
        if row is None:
            raise RuntimeError("There is no signing key; auth_service.startup.prepare makes the first one.")
        self._key = SigningKey(row["kid"], Ed25519PrivateKey.from_private_bytes(_read(row, self._cipher)))
        self._read_at = time.monotonic()
        return self._key


async def encrypt_all(database: Database, cipher: Cipher | None) -> None:
    """Encrypt the private keys that are not yet, or by an earlier secret; raise KeyNotReadable for one of another."""
    async with database.transaction() as connection:
        await repository.lock(connection)
        done = 0
        for row in await repository.private_keys(connection):
            private_key, is_current = _opened(row, cipher)
            if cipher is not None and not is_current:
                await repository.store_private_key(
                    connection, row["kid"], cipher.encrypt(private_key, _place(row["kid"]))
                )
                done += 1
    if done:
        _log.info("Encrypted %d signing keys; dumps of before still have them as they were.", done)


async def ensure_first(database: Database, cipher: Cipher | None) -> None:
    """Make the first key, which signs at once, unless there is one; replicas that start together make one."""
    async with database.transaction() as connection:
        await repository.lock(connection)
        if await repository.newest(connection) is None:
            await _make(connection, cipher, signs_in=timedelta(0))


async def rotate(database: Database, cipher: Cipher | None) -> None:
    """Have a new key take over soon; does nothing while one is waiting to do so."""
    async with database.transaction() as connection:
        await repository.lock(connection)
        newest = await repository.newest(connection)
        if newest is not None and newest["is_waiting"]:
            _log.info("Key %s is waiting already, and signs from %s.", newest["kid"], newest["signs_from"])
            return
        await _check_readable(connection, cipher)
        await _make(connection, cipher, signs_in=PUBLISHED_AHEAD if newest is not None else timedelta(0))


async def replace(database: Database, cipher: Cipher | None) -> None:
    """Have a new key sign at once and forget all others: whoever is logged in has to log in again.

    For a key that others may know, and for keys that nothing can decrypt any more. Gateways hear of it within
    two seconds, and take no token of a forgotten key then.
    """
    async with database.transaction() as connection:
        await repository.lock(connection)
        kid = await _make(connection, cipher, signs_in=timedelta(0))
        count = await repository.delete_others(connection, kid)
        await outbox.record(connection, [NewEvent(KeysReplaced(kid=kid), subject=kid, actor=SYSTEM)])
    _log.warning("Forgot %d signing keys: every token that they signed stops working within seconds.", count)


async def rotate_when_due(database: Database, age: timedelta, cipher: Cipher | None) -> None:
    """Have a new key take over when the present one has been signing for `age`."""
    async with database.transaction() as connection:
        await repository.lock(connection)
        newest = await repository.newest(connection)
        if newest is not None and newest["age"] >= age:
            await _check_readable(connection, cipher)
            await _make(connection, cipher, signs_in=PUBLISHED_AHEAD)


async def forget_old(database: Database, token_lifetime: timedelta) -> None:
    """Delete the keys of which every token has expired."""
    async with database.connection() as connection:
        count = await repository.delete_succeeded(connection, token_lifetime + _MARGIN)
    if count:
        _log.info("Forgot %d signing keys: every token that they signed has expired.", count)


async def public_keys(database: Database) -> dict[str, Any]:
    """Return the JSON Web Key Set (RFC 7517, RFC 8037) of all keys."""
    async with database.connection() as connection:
        rows = await repository.published(connection)
    return {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "use": "sig",
                "alg": ALGORITHM,
                "kid": row["kid"],
                "x": urlsafe_b64encode(row["public_key"]).rstrip(b"=").decode(),
            }
            for row in rows
        ]
    }


async def _make(connection: Connection, cipher: Cipher | None, signs_in: timedelta) -> str:
    key = Ed25519PrivateKey.generate()
    kid = uuid.uuid4().hex
    private_key = key.private_bytes_raw()
    stored = private_key if cipher is None else cipher.encrypt(private_key, _place(kid))
    made = await repository.insert(connection, kid, key.public_key().public_bytes_raw(), stored, signs_in)
    _log.info("Made the signing key %s, which signs from %s.", kid, made["signs_from"])
    return kid


async def _check_readable(connection: Connection, cipher: Cipher | None) -> None:
    for row in await repository.private_keys(connection):
        _read(row, cipher)


def _read(row: DictRow, cipher: Cipher | None) -> bytes:
    """Return a private key as it is; raise KeyNotReadable when this cipher cannot tell it."""
    return _opened(row, cipher)[0]


def _opened(row: DictRow, cipher: Cipher | None) -> tuple[bytes, bool]:
    """Return the same, and whether the first secret of the cipher has encrypted it."""
    stored: bytes = row["private_key"]
    if len(stored) == _RAW_LENGTH:
        return stored, False
    if cipher is None:
        raise KeyNotReadable(f"The setting DATA_ENCRYPTION_KEY is missing: signing keys are encrypted. {_ADVICE}")
    try:
        return cipher.opened(stored, _place(row["kid"]))
    except NotReadable:
        raise KeyNotReadable(
            f"The setting DATA_ENCRYPTION_KEY is wrong: signing keys are encrypted with another one. {_ADVICE}"
        ) from None


def _place(kid: str) -> str:
    return f"signing_keys/{kid}"

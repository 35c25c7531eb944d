"""Password hashes: argon2id, in threads, at most as many at once as there are cores, and four.

Each takes CPU and memory, and whoever has no account may ask for one: requests wait for a thread, but not any number of
them. Those of one address hold a quarter of the places at most, and those of addresses without a log-in lately two
thirds: so neither one party nor many strangers keep out who is known.
"""

import asyncio
import os
import secrets
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import blake2b
from typing import Annotated

from argon2 import PasswordHasher, Type
from argon2.exceptions import VerificationError
from argon2.low_level import hash_secret_raw
from fastapi import Depends, Request

from auth_service.addresses import client_address
from auth_service.throttle import service as throttle
from chassis.core.addresses import network_of
from chassis.core.problems import Unavailable
from chassis.db.database import Db

_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1, type=Type.ID)
"""OWASP's minimum: about 22 ms and 19 MiB a password."""

_THREADS = 4
"""A container sees all cores of its node, and memory for all of them at once it has not."""

PLACES = 200
"""Requests with a password that may be under way at once: a wait of about two seconds for two cores."""

OF_ADDRESS = PLACES // 4
OF_STRANGERS = PLACES - PLACES // 3


class Passwords:
    """Hashes and verifies passwords; never call it while holding a connection or a transaction.

    A password is compared in Unicode form NFC (RFC 8265): keyboards differ in how they send an accent.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1), thread_name_prefix="argon2")
        # Made here: made at the first log-in without an account, it would tell by its time that there is none.
        self._dummy = _hash(secrets.token_hex())
        self._taken: Counter[str] = Counter()

    @property
    def is_crowded(self) -> bool:
        """Check whether the places that are left are for known addresses."""
        return self._taken.total() >= OF_STRANGERS

    @contextmanager
    def place(self, address: str, *, is_known: bool = False) -> Iterator[None]:
        """Hold a place for a request from `address`; raise Unavailable when it would have to wait for too long.

        `is_known`: somebody has logged in from there lately.
        """
        network = network_of(address)
        most = PLACES if is_known else OF_STRANGERS
        if self._taken.total() >= most or self._taken[network] >= OF_ADDRESS:
            raise Unavailable("Too many passwords are being checked right now; try again in a moment.")
        self._taken[network] += 1
        try:
            yield
        finally:
            self._taken[network] -= 1
            if not self._taken[network]:
                del self._taken[network]

    async def hash(self, password: str) -> str:
        """Return the encoded hash of a password."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _hash, password)

    async def matches(self, password: str, password_hash: str | None) -> bool:
        """Check whether the password is that of the hash; without a hash, no, at the same cost."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, _verify, password, self._dummy if password_hash is None else password_hash
        )

    async def key(self, password: str, salt: bytes) -> bytes:
        """Return 32 bytes from which a password is as hard to guess as from its hash; the same for the same salt."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _key, password, salt)

    @staticmethod
    def is_outdated(password_hash: str) -> bool:
        """Check whether the hash was made with other parameters than today's."""
        return _HASHER.check_needs_rehash(password_hash)


def _hash(password: str) -> str:
    return _HASHER.hash(unicodedata.normalize("NFC", password))


def _key(password: str, salt: bytes) -> bytes:
    return hash_secret_raw(
        password.encode(),
        blake2b(salt, digest_size=16).digest(),
        _HASHER.time_cost,
        _HASHER.memory_cost,
        _HASHER.parallelism,
        32,
        Type.ID,
    )


def _verify(password: str, password_hash: str) -> bool:
    try:
        return _HASHER.verify(password_hash, unicodedata.normalize("NFC", password))
    except VerificationError:
        return False


async def _of(request: Request, database: Db) -> AsyncIterator[Passwords]:
    passwords: Passwords = request.app.state.passwords
    address = client_address(request)
    # Asked only when it matters: most of the time there are places for everybody.
    is_known = passwords.is_crowded and await throttle.is_known(database, address)
    with passwords.place(address, is_known=is_known):
        yield passwords


PasswordPort = Annotated[Passwords, Depends(_of, scope="function")]
"""A route that asks for it holds a place meanwhile."""

"""Encryption of what a database keeps and others must not read there, by a key that is not in it: AES-GCM."""

import os
from contextlib import suppress

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_VERSION = b"\x01"
_NONCE = 12


class NotReadable(Exception):
    """It was encrypted with another key, for another place, or was changed since."""


class Cipher:
    """Encrypts by a key that is made of the first of some secrets, and reads what any of them has encrypted."""

    def __init__(self, *secrets: str) -> None:
        self._current, *self._earlier = map(_aead, secrets)

    def encrypt(self, plain: bytes, place: str) -> bytes:
        """Return `plain` encrypted; `place` names where it is kept, and it is readable for there alone."""
        nonce = os.urandom(_NONCE)
        return _VERSION + nonce + self._current.encrypt(nonce, plain, place.encode())

    def decrypt(self, encrypted: bytes, place: str) -> bytes:
        """Return what was encrypted for `place`; raise NotReadable when that cannot be told."""
        return self.opened(encrypted, place)[0]

    def opened(self, encrypted: bytes, place: str) -> tuple[bytes, bool]:
        """Return the same, and whether the first secret has encrypted it."""
        for aead in (self._current, *self._earlier):
            with suppress(NotReadable):
                return _decrypted(aead, encrypted, place), aead is self._current
        raise NotReadable

    @property
    def has_earlier(self) -> bool:
        """Whether there may be something that another secret than the first has encrypted."""
        return bool(self._earlier)


def _aead(secret: str) -> AESGCM:
    return AESGCM(HKDF(SHA256(), length=32, salt=None, info=b"traceline data at rest").derive(secret.encode()))


def _decrypted(aead: AESGCM, encrypted: bytes, place: str) -> bytes:
    nonce, sealed = encrypted[1 : 1 + _NONCE], encrypted[1 + _NONCE :]
    if encrypted[:1] != _VERSION or len(nonce) < _NONCE:
        raise NotReadable
    try:
        return aead.decrypt(nonce, sealed, place.encode())
    except InvalidTag:
        raise NotReadable from None

"""Encryption of what a database keeps and others must not read there, by a key that is not in it: AES-GCM."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_VERSION = b"\x01"
_NONCE = 12


class NotReadable(Exception):
    """It was encrypted with another key, for another place, or was changed since."""


class Cipher:
    """Encrypts by a key that is made of a secret setting."""

    def __init__(self, secret: str) -> None:
        key = HKDF(SHA256(), length=32, salt=None, info=b"traceline data at rest").derive(secret.encode())
        self._aead = AESGCM(key)

    def encrypt(self, plain: bytes, place: str) -> bytes:
        """Return `plain` encrypted; `place` names where it is kept, and it is readable for there alone."""
        nonce = os.urandom(_NONCE)
        return _VERSION + nonce + self._aead.encrypt(nonce, plain, place.encode())

    def decrypt(self, encrypted: bytes, place: str) -> bytes:
        """Return what was encrypted for `place`; raise NotReadable when that cannot be told."""
        nonce, sealed = encrypted[1 : 1 + _NONCE], encrypted[1 + _NONCE :]
        if encrypted[:1] != _VERSION or len(nonce) < _NONCE:
            raise NotReadable
        try:
            return self._aead.decrypt(nonce, sealed, place.encode())
        except InvalidTag:
            raise NotReadable from None

"""Internal tokens: by them a service knows which program calls it, and for whom.

Each caller signs with a key of its own (Ed25519), for the one service that it calls; each service knows the public
keys of those that may call it. A key is written `CALLER=KEY`, KEY being 64 hexadecimal digits.
"""

import re
import secrets
import time
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from chassis.core import projects
from chassis.core.identity import Identity, Role
from chassis.core.problems import Forbidden, Unauthenticated

GATEWAY = "gateway"
"""Who alone calls for people."""
LIFETIME = 60
_CLOCK_SKEW = 5
"""Seconds by which the caller's clock and ours may differ."""
_CACHE_SIZE = 10_000
_ALGORITHM = "EdDSA"
_TYPE = "internal+jwt"
_ENTRY = re.compile(r"([a-z][a-z0-9-]*)=([0-9a-fA-F]{64})")
_REQUIRED = ["iss", "aud", "sub", "email", "role", "iat", "exp", "tid", "texp"]


def new_signing_key(caller: str) -> str:
    """Return a private key of `caller`."""
    return f"{caller}={secrets.token_hex(32)}"


def public_key(signing_key: str) -> str:
    """Return what others know a private key by."""
    caller, private = read_key(signing_key)
    return f"{caller}={Ed25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw().hex()}"


def read_key(text: str) -> tuple[str, bytes]:
    """Return caller and key of `CALLER=KEY`; raise ValueError, which does not show the key."""
    found = _ENTRY.fullmatch(text.strip())
    if found is None:
        raise ValueError("a key is written CALLER=KEY, such as catalog-service= and 64 hexadecimal digits")
    return found[1], bytes.fromhex(found[2])


def callers_of(internal: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return who calls a service: the gateway, and all that may call one of its `internal` addresses."""
    return frozenset((GATEWAY,)).union(*internal.values())


class InternalSigner:
    """Signs the tokens of one caller, and keeps each for as long as it is good."""

    def __init__(self, signing_key: str) -> None:
        """Raises ValueError when that is no key."""
        self.caller, private = read_key(signing_key)
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self._headers = {"typ": _TYPE, "kid": _key_id(self._key.public_key().public_bytes_raw())}
        self._signed: dict[tuple[str, Identity], tuple[str, float]] = {}

    def sign(self, identity: Identity, audience: str) -> str:
        """Return a token for `identity` at the service `audience`; it lives for LIFETIME seconds or half of that."""
        now = time.time()
        cached = self._signed.get((audience, identity))
        if cached is not None and cached[1] > now + LIFETIME / 2:
            return cached[0]
        claims: dict[str, Any] = {
            "iss": self.caller,
            "aud": audience,
            "sub": "service" if identity.id is None else str(identity.id),
            "email": identity.email,
            "role": identity.role or "",  # a required claim must not be null
            "iat": int(now),
            "exp": int(now) + LIFETIME,
            "tid": identity.token_id,
            "texp": identity.token_expires_at,
            "auth_time": identity.logged_in_at,
            "project": identity.project,
            "sid": identity.session_id,
            "account_role": identity.account_role or "",
            "at_page": identity.at_page,
            **({"token_name": identity.token_name} if identity.token_name else {}),
        }
        token = jwt.encode(claims, self._key, algorithm=_ALGORITHM, headers=self._headers)
        _bound(self._signed)
        self._signed[audience, identity] = (token, claims["exp"])
        return token

    def sign_own(self, audience: str) -> str:
        """Return a token of the caller itself, for the project that it is at."""
        return self.sign(Identity(None, self.caller, None, project=projects.key_or_none()), audience)


class InternalVerifier:
    """Knows who may call a service: it verifies their tokens, and keeps what it has verified."""

    def __init__(
        self, service: str, trusted_keys: Iterable[str], internal: Mapping[str, Collection[str]] | None = None
    ) -> None:
        """`internal` says which callers may call which of the service's internal addresses.

        Raises ValueError when one of the keys is none.
        """
        self.service = service
        self._internal = internal or {}
        self._keys: dict[str, tuple[str, Ed25519PublicKey]] = {}
        for text in trusted_keys:
            caller, public = read_key(text)
            self._keys[_key_id(public)] = caller, Ed25519PublicKey.from_public_bytes(public)
        self._verified: dict[str, tuple[Identity, float]] = {}

    @property
    def callers(self) -> frozenset[str]:
        """The names of those that it trusts."""
        return frozenset(caller for caller, _ in self._keys.values())

    def verify(self, token: str) -> Identity:
        """Return the identity of a token: a person's of the gateway, or the caller itself.

        Raises Unauthenticated for anything else: of another caller, for another service, too old.
        """
        cached = self._verified.get(token)
        if cached is not None and cached[1] > time.time():
            return cached[0]
        try:
            identity, expires_at = self._read(token)
        except (jwt.InvalidTokenError, KeyError, ValueError):
            raise Unauthenticated("This address is not public; call the API through the gateway.") from None
        _bound(self._verified)
        self._verified[token] = (identity, expires_at)
        return identity

    def check_internal(self, identity: Identity, path: str) -> None:
        """Raise Forbidden unless `identity` is a caller that may call the internal address `path`."""
        if identity.id is not None:
            raise Forbidden("Only services may call this address.")
        if identity.email not in self._internal.get(path, ()):
            raise Forbidden(f"{identity.email} may not call this address of {self.service}.")

    def _read(self, token: str) -> tuple[Identity, float]:
        caller, key = self._keys[jwt.get_unverified_header(token)["kid"]]
        decoded = jwt.decode_complete(
            token,
            key,
            algorithms=[_ALGORITHM],
            audience=self.service,
            issuer=caller,
            leeway=_CLOCK_SKEW,
            options={"require": _REQUIRED, "strict_aud": True},
        )
        if decoded["header"].get("typ") != _TYPE:
            raise ValueError("it is a token of another kind")
        claims = decoded["payload"]
        if claims["sub"] == "service":
            return Identity(None, caller, None, project=claims["project"]), claims["exp"]
        if caller != GATEWAY:
            raise ValueError("nobody else calls for people")
        identity = Identity(
            id=int(claims["sub"]),
            email=claims["email"],
            role=Role(claims["role"]) if claims["role"] else None,
            token_id=claims["tid"],
            token_expires_at=claims["texp"],
            logged_in_at=claims["auth_time"],
            project=claims["project"],
            session_id=claims["sid"] or claims["tid"],
            account_role=Role(claims["account_role"]) if claims["account_role"] else None,
            # A gateway of the version before says nothing of these.
            at_page=claims.get("at_page") is True,
            token_name=claims.get("token_name", ""),
        )
        return identity, claims["exp"]


def _key_id(public: bytes) -> str:
    return sha256(public).hexdigest()[:16]


def _bound(cache: dict[Any, Any]) -> None:
    if len(cache) >= _CACHE_SIZE:
        cache.clear()

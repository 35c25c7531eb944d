"""Callers of services under test, each with a key of its own, and services that trust all of them."""

from collections.abc import Collection, Mapping

from chassis.core.identity import Identity
from chassis.core.internal_tokens import GATEWAY, InternalSigner, InternalVerifier, new_signing_key, public_key
from contracts.routes import CALLERS, Service, internal_callers

FOLLOWER = "copy-service"
KEYS = {caller: new_signing_key(caller) for caller in (*CALLERS, FOLLOWER)}
SIGNERS = {caller: InternalSigner(key) for caller, key in KEYS.items()}
FEED = {"/internal/changes": (FOLLOWER,), "/internal/feed-consumers/{consumer}": (FOLLOWER,)}
"""What FOLLOWER may call of a service that is none of ours."""


def trusting(service: str = "service", internal: Mapping[str, Collection[str]] = FEED) -> InternalVerifier:
    """Return what verifies the calls of any service."""
    return InternalVerifier(service, map(public_key, KEYS.values()), internal)


def verifier_of(service: Service) -> InternalVerifier:
    """Return what verifies the calls of a service of ours."""
    return trusting(service.name, internal_callers(service))


def token(identity: Identity, service: str = "service") -> str:
    """Return the token with which a caller calls a service: a person through the gateway, a service itself."""
    return SIGNERS[GATEWAY if identity.id is not None else identity.email].sign(identity, service)

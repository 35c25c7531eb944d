"""A token of a caller whose key is known is good at the service that it is for, for a minute; nothing else is."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from math import ceil
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chassis.core.identity import Identity, Role
from chassis.core.internal_tokens import (
    GATEWAY,
    LIFETIME,
    InternalSigner,
    InternalVerifier,
    new_signing_key,
    public_key,
    read_key,
)
from chassis.core.problems import Forbidden, Unauthenticated

KIM = Identity(7, "kim@example.com", Role.REVIEWER, "t1", 1_700_000_000, 1.5, "DOOR", "s1")
OLD, NEW, CATALOG = new_signing_key(GATEWAY), new_signing_key(GATEWAY), new_signing_key("catalog-service")
STRANGER = new_signing_key("suggestion-service")


def verifier(*keys: str, service: str = "auth-service") -> InternalVerifier:
    return InternalVerifier(service, map(public_key, keys), {"/internal/changes": ["catalog-service"]})


def forged(key: str = NEW, header: dict[str, Any] | None = None, algorithm: str = "EdDSA", **claims: Any) -> str:
    """A token as the gateway makes it, but for what is said."""
    signer = InternalSigner(NEW)
    right = jwt.decode_complete(signer.sign(KIM, "auth-service"), options={"verify_signature": False})
    secret: Any = Ed25519PrivateKey.from_private_bytes(read_key(key)[1])
    if algorithm != "EdDSA":
        secret = None if algorithm == "none" else read_key(public_key(NEW))[1]
    headers = {name: right["header"][name] for name in ("typ", "kid")} | (header or {})
    return jwt.encode(right["payload"] | claims, secret, algorithm=algorithm, headers=headers)


def kid(key: str) -> str:
    return str(jwt.get_unverified_header(InternalSigner(key).sign(KIM, "auth-service"))["kid"])


def test_who_a_token_is_for_arrives_as_it_was() -> None:
    trusting = verifier(OLD, CATALOG)
    assert trusting.verify(InternalSigner(OLD).sign(KIM, "auth-service")) == KIM
    in_page = replace(KIM, at_page=True)
    assert trusting.verify(InternalSigner(OLD).sign(in_page, "auth-service")) == in_page
    service = trusting.verify(InternalSigner(CATALOG).sign_own("auth-service"))
    assert (service.id, service.email, service.role) == (None, "catalog-service", None)
    assert trusting.verify(forged(OLD, {"kid": kid(OLD)})) == KIM, "so each refusal below is for one reason"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: InternalSigner(OLD).sign(KIM, "catalog-service"), id="for another service"),
        pytest.param(lambda: forged(aud=["auth-service", "catalog-service"]), id="for several services"),
        pytest.param(lambda: InternalSigner(STRANGER).sign_own("auth-service"), id="of a caller without a key here"),
        pytest.param(lambda: InternalSigner(CATALOG).sign(KIM, "auth-service"), id="for a person, of a service"),
        pytest.param(lambda: forged(CATALOG, {"kid": kid(CATALOG)}), id="of a caller that claims to be the gateway"),
        pytest.param(lambda: forged(CATALOG), id="signed with another caller's key"),
        pytest.param(lambda: forged(STRANGER), id="signed with a stranger's key"),
        pytest.param(lambda: forged(exp=int(time.time()) - 6), id="expired"),
        pytest.param(lambda: forged(iat=int(time.time()) + 60), id="of the future"),
        pytest.param(lambda: forged(header={"typ": "JWT"}), id="of another kind"),
        pytest.param(lambda: forged(header={"kid": "no such key"}), id="of an unknown key"),
        pytest.param(lambda: forged(algorithm="HS256"), id="with the public key as a secret"),
        pytest.param(lambda: forged(algorithm="none"), id="unsigned"),
        pytest.param(lambda: forged(sub="kim"), id="for nobody"),
        pytest.param(lambda: "nonsense", id="no token"),
    ],
)
def test_what_is_wrong_in_one_way_is_refused(make: Callable[[], str]) -> None:
    trusting = verifier(OLD, NEW, CATALOG)
    assert trusting.verify(forged()) == KIM
    token = make()
    for _ in range(2):
        with pytest.raises(Unauthenticated):
            trusting.verify(token)


class Later(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + timedelta(seconds=LIFETIME + 6)


def test_a_token_that_was_verified_is_good_no_longer_than_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    trusting, token = verifier(OLD), InternalSigner(OLD).sign(KIM, "auth-service")
    assert trusting.verify(token) == KIM
    later = time.time() + LIFETIME + 6
    monkeypatch.setattr("chassis.core.internal_tokens.time.time", lambda: later)
    monkeypatch.setattr("jwt.api_jwt.datetime", Later)
    with pytest.raises(Unauthenticated):
        trusting.verify(token)


def test_a_caller_may_call_the_addresses_that_are_listed_for_it_alone() -> None:
    trusting = verifier(OLD, CATALOG)
    catalog = trusting.verify(InternalSigner(CATALOG).sign_own("auth-service"))
    gateway = trusting.verify(InternalSigner(OLD).sign_own("auth-service"))
    trusting.check_internal(catalog, "/internal/changes")
    for identity, path in ((catalog, "/internal/projects"), (gateway, "/internal/changes"), (KIM, "/internal/changes")):
        with pytest.raises(Forbidden):
            trusting.check_internal(identity, path)


def test_a_key_is_changed_in_three_steps_of_which_none_refuses() -> None:
    before, between, after = verifier(OLD), verifier(OLD, NEW), verifier(NEW)
    old, new = (InternalSigner(key).sign(KIM, "auth-service") for key in (OLD, NEW))
    assert [trusting.verify(old) for trusting in (before, between)] == [KIM, KIM]
    assert [trusting.verify(new) for trusting in (between, after)] == [KIM, KIM]
    with pytest.raises(Unauthenticated):
        after.verify(old)


def test_a_token_serves_for_half_its_life_and_one_service(monkeypatch: pytest.MonkeyPatch) -> None:
    signer = InternalSigner(OLD)
    first = signer.sign(KIM, "auth-service")
    assert signer.sign(KIM, "auth-service") is first
    assert signer.sign(KIM, "catalog-service") != first
    later = time.time() + LIFETIME / 2 + 1
    monkeypatch.setattr("chassis.core.internal_tokens.time.time", lambda: later)
    assert signer.sign(KIM, "auth-service") != first


@pytest.mark.parametrize("ahead", [0.05, 1, 4])
def test_a_caller_whose_clock_is_a_little_ahead_is_believed(monkeypatch: pytest.MonkeyPatch, ahead: float) -> None:
    now = ceil(time.time()) + ahead  # as in the first moment of the caller's next second
    monkeypatch.setattr("chassis.core.internal_tokens.time.time", lambda: now)
    assert verifier(OLD).verify(InternalSigner(OLD).sign(KIM, "auth-service")) == KIM

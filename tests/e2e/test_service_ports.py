"""The ports of the services themselves: whoever reaches one, past the gateway, gets no further than that."""

import httpx
import pytest

from acceptance.client import API, Traceline
from acceptance.stack import RunningStack
from chassis.core.identity import Identity, Role
from chassis.core.internal_tokens import GATEWAY, InternalSigner, new_signing_key
from contracts.routes import SERVICES

from .conftest import GIVEN

pytestmark = [
    pytest.mark.parametrize("running", ["stack"], indirect=True),
    pytest.mark.skipif(bool(GIVEN), reason="of a Traceline that was given, only the gateway can be reached"),
    pytest.mark.requirement("TL-SAFE-3"),
]

READ = {service.name: f"/{service.resources[0]}" for service in SERVICES} | {"auth-service": "/auth/me"}


@pytest.fixture
def ports(running: RunningStack) -> dict[str, str]:
    """The services' own addresses, by service."""
    return {service: running.urls[service] for service in READ}


def test_a_users_token_is_refused_at_a_services_own_port(admin: Traceline, ports: dict[str, str]) -> None:
    for service, url in ports.items():
        for path in (API + READ[service], "/internal/changes"):
            response = httpx.get(url + path, headers={"Authorization": f"Bearer {admin.token}"})
            assert response.status_code == 401, service
            assert response.json()["code"] == "unauthenticated"


@pytest.mark.parametrize("spelling", ["X-User-{}", "X_User_{}"])
def test_headers_that_claim_an_identity_change_nothing_there(ports: dict[str, str], spelling: str) -> None:
    claim = {spelling.format(name): value for name, value in (("Id", "1"), ("Role", "admin"), ("Email", "x@y.test"))}
    for service, url in ports.items():
        assert httpx.get(url + API + READ[service], headers=claim).status_code == 401


def test_a_token_between_services_is_refused_at_the_gateway(running: RunningStack, admin: Traceline) -> None:
    gateway, suggestion = (InternalSigner(running.signing_keys[name]) for name in (GATEWAY, "suggestion-service"))
    me = admin.me()
    # Each is right: a service's is taken where it is meant for, and a person's opens nothing that is for services.
    for token, status in (
        (suggestion.sign_own("catalog-service"), 200),
        (suggestion.sign_own("auth-service"), 401),
        (gateway.sign_own("catalog-service"), 403),
        (gateway.sign(Identity(me["id"], me["email"], Role.ADMIN), "catalog-service"), 403),
    ):
        internal = admin.with_token(token)
        for path in READ.values():
            assert internal.get(path).status_code == 401
        response = httpx.get(running.urls["catalog-service"] + "/internal/changes", headers=_bearer(internal))
        assert response.status_code == status


def test_a_token_between_services_that_somebody_else_signed_is_refused(
    running: RunningStack, ports: dict[str, str]
) -> None:
    person = Identity(1, "x@y.test", Role.ADMIN)
    services = [key for caller, key in running.signing_keys.items() if caller != GATEWAY]
    for signer in map(InternalSigner, [new_signing_key(GATEWAY), *services]):
        for service, url in ports.items():
            forged = Traceline("", token=signer.sign(person, service))
            assert httpx.get(url + API + READ[service], headers=_bearer(forged)).status_code == 401


def test_a_worker_answers_nothing_but_probes(running: RunningStack) -> None:
    signer = InternalSigner(running.signing_keys["suggestion-service"])
    for worker in ("catalog-worker", "auth-worker"):
        internal = Traceline("", token=signer.sign_own(worker.replace("worker", "service")))
        for path in ("/internal/changes", "/openapi.json"):
            assert httpx.get(running.urls[worker] + path, headers=_bearer(internal)).status_code == 404


def _bearer(user: Traceline) -> dict[str, str]:
    return {"Authorization": f"Bearer {user.token}"}

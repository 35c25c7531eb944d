"""What gateways notice of requests becomes events, by whom it was as they are called now."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from chassis.core.identity import Identity
from testing.service import ok

from .conftest import Service

GATEWAY = Identity(None, "gateway", None)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def notice(**told: Any) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "at": NOON,
        "user_id": None,
        "project": None,
        "address": "192.0.2.7",
        "agent": "curl/8.5.0",
        "session_id": None,
        "api_token_id": None,
        "requests": ["GET /api/v1/requirements"],
        "count": 3,
        "since": NOON - timedelta(minutes=1),
        "request_id": "r-1",
        "gateway_request_id": "g-1",
        **told,
    }


async def tell(service: Service, **topics: list[dict[str, Any]]) -> None:
    response = await service.call("PUT", "/internal/access-notices", topics, caller=GATEWAY)
    assert response.status_code == 204, response.text


async def test_refusals_and_readings_are_events_of_who_it_was(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    stranger = notice(status=401, reason="no_token")
    known = notice(status=403, reason="role_too_low", user_id=kim.id, project="DOOR", session_id="s1")
    exported = notice(what="export", user_id=kim.id, project="MAIN")
    for _ in range(2):  # the second time by a gateway that got no answer
        await tell(service, refusals=[stranger, known], readings=[exported])
    by_nobody, by_kim = await service.events("auth.access.refused")
    assert (by_nobody["actor"], by_nobody.get("actorid"), by_nobody["id"]) == ("anonymous", None, stranger["id"])
    assert "project" not in by_nobody
    noon, since = "2026-01-31T12:00:00Z", "2026-01-31T11:59:00Z"
    assert (by_kim["actor"], by_kim["actorid"], by_kim["project"]) == ("kim@example.com", kim.id, "DOOR")
    assert (by_kim["time"], by_kim["correlationid"], by_kim["gatewayrequestid"]) == (noon, "r-1", "g-1")
    told = {name: by_kim["data"][name] for name in ("status", "reason", "session_id", "count", "since")}
    assert told == {"status": 403, "reason": "role_too_low", "session_id": "s1", "count": 3, "since": since}
    (read,) = await service.events("auth.data.read")
    assert (read["actor"], read["data"]["what"], read["data"]["requests"]) == (
        "kim@example.com",
        "export",
        ["GET /api/v1/requirements"],
    )


async def test_an_erased_person_is_not_named_by_what_their_old_token_tries(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    erased = await service.call("DELETE", f"/api/v1/users/{kim.id}?erase=true", caller=await service.admin())
    assert erased.status_code in (200, 202, 204), erased.text
    await tell(service, refusals=[notice(status=401, reason="ended_token", user_id=kim.id)])
    (event,) = await service.events("auth.access.refused")
    assert (event["actorid"], event["actor"]) == (kim.id, f"erased-{kim.id}@erased.invalid")


async def test_an_api_token_from_a_new_address_is_told_once_for_each(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    body = {"name": "pipeline", "scopes": ["read"]}
    token = ok(await service.call("POST", "/api/v1/auth/tokens", body, caller=kim), 201)

    async def use(address: str, id_: int = token["id"]) -> None:
        await tell(service, uses=[{"api_token_id": id_, "address": address, "agent": "curl/8.5.0", "at": NOON}])

    for address in ("192.0.2.1", "2001:db8::1", "192.0.2.1", "2001:db8::2"):
        await use(address)
    await use("192.0.2.1", 999_999)
    assert (await service.call("DELETE", f"/api/v1/auth/tokens/{token['id']}", caller=kim)).status_code == 204
    await use("192.0.2.3")
    told = await service.events("auth.api_token.used_elsewhere")
    assert [event["data"]["address"] for event in told] == ["192.0.2.1", "2001:db8::1", "192.0.2.3"]
    assert {(event["actor"], event["data"]["token"]["id"]) for event in told} == {("kim@example.com", token["id"])}

"""What the gateway reads at its start: everything that restricts tokens that were issued already."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from auth_service.worker import create_worker
from chassis.core.identity import Identity, Role
from chassis.messaging.bus.in_process import InProcessBus
from testing.service import problem

from .conftest import PASSWORD, Service

GATEWAY = Identity(None, "gateway", None)


async def read(service: Service) -> dict[str, Any]:
    response = await service.call("GET", "/internal/access-changes", caller=GATEWAY)
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document


async def end_token(service: Service, kim: Identity, token_id: str, expires_at: datetime) -> None:
    caller = Identity(kim.id, kim.email, Role.VIEWER, token_id, int(expires_at.timestamp()))
    assert (await service.call("POST", "/api/v1/auth/logout", caller=caller)).status_code == 204


async def test_only_services_may_read_it(service: Service) -> None:
    problem(await service.call("GET", "/internal/access-changes"), 401)
    problem(await service.call("GET", "/internal/access-changes", caller=await service.admin()), 403)


async def test_a_user_nobody_changed_is_not_in_it(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    await service.change(await service.admin(), kim.id or 0, {"full_name": "Robin"})
    document = await read(service)
    assert (document["users"], document["ended_tokens"]) == ([], [])
    assert document["head"] == 3, "the admin, Kim, Kim's new name"


async def test_changed_roles_deactivations_passwords_and_logouts_are_in_it(service: Service) -> None:
    admin = await service.admin()
    people = [await service.registered(f"kim{number}@example.com") for number in range(3)]
    ids = [person.id or 0 for person in people]
    await service.change(admin, ids[0], {"role": "reviewer"})
    await service.change(admin, ids[1], {"is_active": False})
    change = {"current_password": PASSWORD, "new_password": "another battery"}
    await service.call("POST", "/api/v1/auth/change-password", change, caller=people[2])
    await end_token(service, people[0], "t1", datetime(2100, 1, 1, tzinfo=UTC))
    document = await read(service)
    users = {user["id"]: user for user in document["users"]}
    assert set(users) == set(ids)
    assert (users[ids[0]]["role"], users[ids[0]]["tokens_not_before"]) == ("reviewer", None)
    assert users[ids[1]]["is_active"] is False
    assert users[ids[2]]["tokens_not_before"] == users[ids[2]]["changed_at"]
    assert document["ended_tokens"] == [{"token_id": "t1", "expires_at": "2100-01-01T00:00:00Z"}]
    changes = (await service.call("GET", f"/internal/changes?after={document['head']}", caller=GATEWAY)).json()
    assert changes["events"] == []


async def test_what_no_token_is_old_enough_for_is_left_out(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    await service.change(await service.admin(), kim.id or 0, {"role": "reviewer"})
    await end_token(service, kim, "expired", datetime.now(UTC) - timedelta(seconds=5))
    await service.rows("UPDATE users SET access_changed_at = access_changed_at - interval '31 days'")
    document = await read(service)
    assert (document["users"], document["ended_tokens"]) == ([], [])


async def test_the_worker_forgets_what_counts_no_more_and_rotates_old_keys(service: Service) -> None:
    kim = await service.registered("kim@example.com")
    await service.log_in("kim@example.com", "not this one")
    await service.rows("UPDATE login_attempts SET at = at - interval '25 hours'")
    await service.log_in("kim@example.com", address="192.0.2.8")
    await service.rows("UPDATE known_networks SET at = at - interval '91 days'")
    await service.log_in("kim@example.com", "not this one")
    await end_token(service, kim, "expired", datetime.now(UTC) - timedelta(seconds=5))
    await end_token(service, kim, "alive", datetime.now(UTC) + timedelta(hours=1))
    await service.rows("UPDATE signing_keys SET signs_from = signs_from - interval '30 days'")
    bus = InProcessBus()
    await bus.start()
    running = asyncio.create_task(create_worker(service.settings, service.database, bus).run())

    async def left() -> tuple[int, int, list[str], int]:
        attempts = await service.rows("SELECT id FROM login_attempts")
        networks = await service.rows("SELECT network FROM known_networks")
        ended = await service.rows("SELECT token_id FROM ended_tokens")
        keys = await service.rows("SELECT kid FROM signing_keys")
        return len(attempts), len(networks), [row["token_id"] for row in ended], len(keys)

    async with asyncio.timeout(120):
        while await left() != (1, 0, ["alive"], 2):  # noqa: ASYNC110 - it is the database that changes
            await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

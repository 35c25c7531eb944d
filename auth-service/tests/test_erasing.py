"""Erasing a person: the account is overwritten at once, and once all have received it nothing names them here."""

from datetime import timedelta

import pytest

from auth_service.erasing import service as erasing
from chassis.core.identity import Role
from chassis.messaging import outbox
from chassis.messaging.pruning import received
from contracts.routes import consumers_of
from testing.postgres import everything_in
from testing.service import ok, problem

from .conftest import Service

ADDRESS = "zora.quill+x@example.com"
NAMES = ("Zora Quill", "Zora Before")


async def everybody_received(service: Service) -> None:
    head = await outbox.number(service.database)
    async with service.database.across() as connection:
        await connection.execute("UPDATE relay_position SET position = %s", (head,))
        for consumer in consumers_of("auth"):
            await received(connection, consumer, head)


async def test_nothing_names_who_was_erased(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing, "AGAIN_AFTER", timedelta(0))
    admin = await service.admin()
    other = ok(await service.register("a" + ADDRESS, full_name="Other Person"), 201)
    user = ok(await service.register(ADDRESS, full_name=NAMES[1]), 201)
    ok(await service.change(admin, user["id"], {"full_name": NAMES[0], "role": "reviewer"}))
    await service.log_in(ADDRESS, "a wrong password")
    ok(await service.log_in(ADDRESS))
    path = f"/api/v1/users/{user['id']}"
    for _ in range(2):
        assert (await service.call("DELETE", f"{path}?erase=true", caller=admin)).status_code == 204
    left = ok(await service.call("GET", path, caller=admin))
    pseudonym = f"erased-{user['id']}@erased.invalid"
    assert (left["email"], left["full_name"], left["is_active"]) == (pseudonym, "Erased user", False)
    problem(await service.log_in(ADDRESS), 401, "invalid_credentials")
    problem(await service.log_in(pseudonym), 401, "invalid_credentials")
    for _ in range(2):
        await erasing.finish(service.database)
        assert ADDRESS in await everything_in(service.database)
        await everybody_received(service)
    # What has the address now would lose it.
    problem(await service.register(ADDRESS), 409, "email_taken")
    problem(
        await service.call("POST", "/api/v1/users/invitations", {"email": ADDRESS}, caller=admin), 409, "email_taken"
    )
    await erasing.finish(service.database)
    kept = (await everything_in(service.database)).lower()
    assert "a" + ADDRESS in kept
    kept = kept.replace("a" + ADDRESS, "")
    assert [said for said in (ADDRESS, *NAMES) if said.lower() in kept] == []
    assert ok(await service.call("GET", f"/api/v1/users/{other['id']}", caller=admin)) == other
    again = ok(await service.register(ADDRESS), 201)
    await erasing.finish(service.database)
    assert ok(await service.call("GET", f"/api/v1/users/{again['id']}", caller=admin))["email"] == ADDRESS


async def test_the_last_admin_is_not_erased(service: Service) -> None:
    admin = await service.admin()
    answered = await service.call("DELETE", f"/api/v1/users/{admin.id}?erase=true", caller=admin)
    problem(answered, 409, "last_admin")
    kim = await service.registered("kim@example.com", Role.VIEWER)
    assert (await service.call("DELETE", f"/api/v1/users/{kim.id}?erase=true", caller=kim)).status_code == 403


async def test_nobody_can_have_what_stands_for_who_was_erased(service: Service) -> None:
    admin = await service.admin()
    user = ok(await service.register(ADDRESS), 201)
    path, pseudonym = f"/api/v1/users/{user['id']}", f"erased-{user['id']}@erased.invalid"
    problem(await service.register(pseudonym), 422, field="/email")
    assert (await service.call("DELETE", f"{path}?erase=true", caller=admin)).status_code == 204
    assert ok(await service.call("GET", path, caller=admin))["email"] == pseudonym


async def test_an_erased_account_is_never_used_again(service: Service) -> None:
    admin = await service.admin()
    user = ok(await service.register(ADDRESS), 201)
    path = f"/api/v1/users/{user['id']}"
    assert (await service.call("DELETE", f"{path}?erase=true", caller=admin)).status_code == 204
    for change in ({"is_active": True}, {"role": "admin"}, {"full_name": "Somebody Else"}):
        problem(await service.change(admin, user["id"], change), 409, "erased")
    assert (await service.call("DELETE", path, caller=admin)).status_code == 204, "as it is already"
    left = ok(await service.call("GET", path, caller=admin))
    assert (left["role"], left["full_name"], left["is_active"]) == ("viewer", "Erased user", False)

"""Erased people: nothing here names them any more, and the chain of the audit log holds by what says so."""

from typing import TYPE_CHECKING

import pytest

from chassis.core import projects
from chassis.core.identity import Role
from chassis.core.projects import MAIN
from chassis.db import sealing
from chassis.db.sealing import Signer, Verdict
from chassis.messaging.events import SYSTEM, Actor
from contracts import auth, catalog
from contracts.routes import NOTIFICATION
from testing import factories
from testing.internal import KEYS
from testing.postgres import as_owner, everything_in

if TYPE_CHECKING:
    from conftest import World

ZORA = Actor(7, "zora.quill@example.com")
NAME = "Zora Quill"


def user(email: str, name: str) -> auth.UserState:
    return auth.UserState(id=7, email=email, full_name=name, role="viewer", is_active=True, tokens_not_before=None)


async def sealed(world: "World") -> None:
    while await sealing.seal_some(world.database):
        pass


async def verdict(world: "World", key: str) -> Verdict:
    async with world.database.across() as connection:
        return await sealing.verify(connection, key, Signer(KEYS[NOTIFICATION.name]), {})


def erased(*, again: bool = False) -> auth.UserErased:
    former = auth.Former(email=ZORA.email, full_names=(NAME,))
    return auth.UserErased(user=user("erased-7@erased.invalid", "Erased user"), former=former, again=again)


async def named(world: "World") -> list[str]:
    """Return what of Zora is still kept."""
    kept = (await everything_in(world.database)).lower()
    return [said for said in (ZORA.email, NAME) if said.lower() in kept]


async def erase(world: "World") -> None:
    """Let Zora do things in two projects, and erase her."""
    created = auth.UserCreated(user=user(ZORA.email, NAME))
    await world.inbox.receive([world.envelope(created, by=ZORA)])
    for key in (MAIN, "DOOR"):
        with projects.within(key):
            events = [
                world.envelope(catalog.RequirementCreated(requirement=factories.requirement()), by=actor)
                for actor in (ZORA, Actor(8, "other@example.com"))
            ]
        await world.inbox.receive(events)
    await sealed(world)
    await world.inbox.receive([world.envelope(erased(), by=Actor(1, "admin@example.com"))])
    await sealed(world)


async def test_nothing_names_who_was_erased_and_the_chain_holds(world: "World") -> None:
    await erase(world)
    assert await named(world) == []
    found = [await verdict(world, key) for key in (MAIN, "DOOR")]
    assert [(one.entries, one.erased, one.wrong) for one in found] == [(4, 2, None), (3, 1, None)]
    listed = await world.read("/audit-log", role=Role.ADMIN)
    assert [(entry["action"], entry["actor"]) for entry in listed["items"]] == [
        ("user.erased", "admin@example.com"),
        ("requirement.created", "other@example.com"),
        ("requirement.created", "erased-7@erased.invalid"),
        ("user.created", "erased-7@erased.invalid"),
    ]


async def test_names_go_that_the_feed_has_forgotten(world: "World") -> None:
    earlier, renamed = user(ZORA.email, "Zora Unwed"), user(ZORA.email, NAME)
    changes = {"full_name": {"before": earlier.full_name, "after": NAME}}
    for event in (auth.UserCreated(user=earlier), auth.UserUpdated(user=renamed, changes=changes)):
        await world.inbox.receive([world.envelope(event)])
    assert "Zora Unwed" in await everything_in(world.database)
    await world.inbox.receive([world.envelope(erased())])
    assert await named(world) == []
    assert "Unwed" not in await everything_in(world.database)


async def test_what_arrives_after_the_erasure_is_erased_when_it_is_told_again(world: "World") -> None:
    await erase(world)
    late = catalog.RequirementCreated(requirement=factories.requirement(created_by=ZORA.email))
    await world.inbox.receive([world.envelope(late, by=ZORA)])
    await sealed(world)
    assert await named(world) == [ZORA.email]
    await world.inbox.receive([world.envelope(erased(again=True), by=SYSTEM)])
    await sealed(world)
    assert await named(world) == []
    assert (await verdict(world, MAIN)).wrong is None


async def test_an_event_that_could_not_be_applied_names_nobody_when_it_is(world: "World") -> None:
    async with as_owner(world.database) as connection:
        await connection.execute("ALTER TABLE audit_entries ADD CONSTRAINT none CHECK (actor_id <> 7)")
    created = auth.UserCreated(user=user(ZORA.email, NAME))
    await world.inbox.receive([world.envelope(created, by=ZORA)])
    assert await named(world) == [ZORA.email, NAME], "it is kept with its error"
    await world.inbox.receive([world.envelope(erased(), by=Actor(1, "admin@example.com"))])
    assert await named(world) == []
    async with as_owner(world.database) as connection:
        await connection.execute("ALTER TABLE audit_entries DROP CONSTRAINT none")
    (kept,) = await world.rows("SELECT id, message FROM inbox_failures")
    assert await world.inbox.retry(kept["id"], kept["message"])
    assert await named(world) == []


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit_entries SET actor = 'eve' WHERE id = 2",
        "UPDATE audit_erasures SET digest = sha256('') WHERE entry_id = 2",
        "INSERT INTO audit_erasures SELECT project_id, erasure, 3, digest FROM audit_erasures WHERE entry_id = 2",
        "DELETE FROM audit_erasures WHERE entry_id = 2",
        "UPDATE audit_entries SET details = '{}' WHERE action = 'user.erased'",
    ],
)
async def test_an_erasure_hides_no_other_change(world: "World", tampering: str) -> None:
    await erase(world)
    await world.rows(tampering)
    assert (await verdict(world, MAIN)).wrong is not None

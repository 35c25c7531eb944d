"""The chain of the audit log: whoever changes it breaks it, whatever they may do in the database."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
import psycopg
import pytest
from click.testing import CliRunner, Result

from chassis.admin.audit_command import verify_audit
from chassis.core import projects
from chassis.core.identity import Role
from chassis.core.projects import MAIN
from chassis.db import sealing
from chassis.db.sealing import Signer, Verdict
from contracts import catalog
from contracts.routes import NOTIFICATION
from notification_service.audit_keeping import remove, write_lines
from testing import factories
from testing.internal import KEYS
from testing.service import problem

if TYPE_CHECKING:
    from conftest import World

KEY = KEYS[NOTIFICATION.name]
TODAY = datetime.now(UTC).date()
OLD = datetime.now(UTC) - timedelta(days=100)


async def tell(world: "World", number: int, key: str = MAIN, at: datetime | None = None) -> None:
    with projects.within(key):
        events = [
            world.envelope(catalog.RequirementCreated(requirement=factories.requirement()), at=at)
            for _ in range(number)
        ]
    await world.inbox.receive(events)
    while await sealing.seal_some(world.database):
        pass


async def verdict(world: "World", key: str = MAIN, known: dict[int, bytes] | None = None) -> Verdict:
    async with world.database.across() as connection:
        return await sealing.verify(connection, key, Signer(KEY), known or {})


async def test_what_nobody_touched_is_as_it_was(world: "World") -> None:
    await tell(world, 5)
    await tell(world, 3, "DOOR")
    await tell(world, 2)
    found = [await verdict(world, key) for key in (MAIN, "DOOR")]
    assert [(one.first, one.entries, one.wrong) for one in found] == [(1, 7, None), (1, 3, None)]
    shown = await world.read("/audit-log/head", role=Role.ADMIN)
    assert shown == {"entries": 7, "hash": found[0].head, "signed": None}


async def test_an_admin_reads_whether_the_chain_is_whole(world: "World") -> None:
    await tell(world, 3)
    whole = await world.read("/audit-log/chain", role=Role.ADMIN)
    assert whole.pop("sealed_at") is not None
    assert whole == {
        "entries": 3,
        "checked": True,
        "wrong": None,
        "erased": 0,
        "unsealed": 0,
        "signed_on": None,
    }
    await sealing.sign_heads(world.database, Signer(KEY), TODAY)
    assert (await world.read("/audit-log/chain", role=Role.ADMIN))["signed_on"] == str(TODAY)
    await world.rows("UPDATE audit_entries SET actor = 'eve' WHERE id = 2")
    broken = await world.read("/audit-log/chain", role=Role.ADMIN)
    assert (broken["entries"], broken["wrong"]) == (3, "entry 2 (id 2) was changed")
    problem(await world.ask("GET", "/audit-log/chain"), 403)


NEW = (
    "INSERT INTO audit_entries (id, occurred_at, actor, action, resource_type, summary, request_id)"
    " OVERRIDING SYSTEM VALUE VALUES (-7, now(), 'eve', 'user.created', 'user', 'No.', '')"
)


@pytest.mark.parametrize(
    ("tampering", "wrong"),
    [
        ("UPDATE audit_entries SET actor = 'eve' WHERE id = 3", "entry 3 (id 3) was changed"),
        ("UPDATE audit_entries SET after = '{}' WHERE id = 3", "entry 3 (id 3) was changed"),
        ("UPDATE audit_entries SET project_id = 'DOOR' WHERE id = 3", "entry 3 (id 3) was removed"),
        ("DELETE FROM audit_entries WHERE id = 1", "entry 1 (id 1) was removed"),
        ("DELETE FROM audit_entries WHERE id = 4", "entry 4 (id 4) was removed"),
        ("DELETE FROM audit_seals WHERE place = 4", "entry 4 was removed, with its seal"),
        ("DELETE FROM audit_seals WHERE place = 1", "entry 1 was removed, with its seal"),
        ("UPDATE audit_seals SET hash = digest WHERE place = 2", "the seal of entry 2 (id 2) was changed"),
        (NEW, "the entry with id -7 was put in"),
        ("DELETE FROM audit_seals WHERE place > 4", "the entry with id 5 was put in"),
    ],
)
async def test_what_was_changed_is_found(world: "World", tampering: str, wrong: str) -> None:
    await tell(world, 5)
    await world.rows(tampering)
    found = (await verdict(world)).wrong
    assert found is not None
    assert found.startswith(wrong)


async def test_a_chain_made_anew_is_not_that_of_the_heads(world: "World") -> None:
    await tell(world, 5)
    await sealing.sign_heads(world.database, Signer(KEY), TODAY)
    await sealing.sign_heads(world.database, Signer(KEY), TODAY)
    signed = (await world.read("/audit-log/head", role=Role.ADMIN))["signed"]
    assert (signed["day"], signed["entries"], len(signed["signature"])) == (TODAY.isoformat(), 5, 64)
    kept = {5: bytes.fromhex(signed["hash"])}
    await world.rows("UPDATE audit_entries SET actor = 'eve' WHERE id = 5")
    await world.rows("DELETE FROM audit_seals")
    await world.rows("UPDATE audit_sealing SET position = 0")
    await sealing.seal_some(world.database)
    made_anew = "entry 5 is not that of a head"
    assert ((await verdict(world)).wrong or "").startswith(made_anew)
    await world.rows("UPDATE audit_heads h SET hash = s.hash FROM audit_seals s WHERE s.place = h.place")
    assert (await verdict(world)).wrong == f"the head of {TODAY.isoformat()} was not signed by us"
    await world.rows("DELETE FROM audit_heads")
    assert (await verdict(world)).wrong is None
    assert ((await verdict(world, known=kept)).wrong or "").startswith(made_anew)
    await world.rows("DELETE FROM audit_entries WHERE id = 5")
    await world.rows("DELETE FROM audit_seals WHERE place = 5")
    assert ((await verdict(world, known=kept)).wrong or "").startswith("entry 5 and later ones were removed")


@pytest.mark.parametrize("statement", ["UPDATE {} SET project_id = 'DOOR'", "DELETE FROM {}", "TRUNCATE {}"])
@pytest.mark.parametrize("table", ["audit_entries", "audit_seals", "audit_heads", "audit_anchors"])
async def test_a_service_may_only_add(world: "World", table: str, statement: str) -> None:
    for look in (world.database.connection, world.database.across):
        async with look() as connection:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(statement.format(table))


async def test_what_is_too_old_goes_and_the_chain_goes_on(world: "World") -> None:
    for _ in range(2):
        await tell(world, 3, at=OLD)
        await tell(world, 2, "DOOR", at=OLD)
    await tell(world, 2)
    moment = datetime.now(UTC) - timedelta(days=31)
    assert await remove(world.database, "remove_audit_entries_before", moment) == 10
    found = [await verdict(world, key) for key in (MAIN, "DOOR")]
    assert [(one.first, one.entries, one.wrong) for one in found] == [(7, 2, None), (5, 0, None)]
    assert (await world.read("/audit-log", role=Role.ADMIN))["total"] == 2
    await tell(world, 1)
    assert (await verdict(world)).entries == 3
    with pytest.raises(psycopg.errors.RaiseException):
        await remove(world.database, "remove_audit_entries_before", datetime.now(UTC))
    with pytest.raises(psycopg.errors.RaiseException):
        await remove(world.database, "remove_audit_entries_of", "DOOR")
    await world.rows("DELETE FROM audit_entries WHERE id = (SELECT min(id) FROM audit_entries)")
    assert "entry 7" in ((await verdict(world)).wrong or "")


async def test_entries_are_streamed_as_lines(world: "World", capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    await world.inbox.receive([world.envelope(catalog.RequirementCreated(requirement=factories.requirement()))])
    await sealing.seal_some(world.database, write_lines)
    [line] = [orjson.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    [entry] = await world.audit_log()
    same = ("id", "occurred_at", "actor", "action", "resource_id", "summary", "request_id")
    assert {name: line[name] for name in same} == {name: entry[name] for name in same}
    assert (line["log"], line["project"], line["after"]["title"]) == ("audit", MAIN, "Lock the account")


def run(world: "World", *arguments: str, key: str | None = KEY) -> Result:
    settings = {"DATABASE_URL": world.database.url, "INTERNAL_SIGNING_KEY": key}
    return CliRunner(env=settings).invoke(verify_audit, arguments)


async def test_the_command_says_what_is_wrong_of_which_project(world: "World") -> None:
    await tell(world, 5)
    await tell(world, 2, "DOOR")
    head = (await verdict(world)).head
    fine = await asyncio.to_thread(run, world, "--head", f"5:{head}", "--json")
    assert (fine.exit_code, [one["wrong"] for one in orjson.loads(fine.stdout)["projects"]]) == (0, [None, None])
    await world.rows("UPDATE audit_entries SET actor = 'eve' WHERE project_id = 'DOOR'")
    broken = await asyncio.to_thread(run, world)
    assert broken.exit_code == 1
    assert "entry 1 (id 6) was changed" in broken.stdout
    odd = await asyncio.to_thread(run, world, "--head", "five")
    assert "PLACE:HASH" in odd.output


async def test_without_a_key_the_command_checks_all_but_the_signatures(world: "World") -> None:
    await tell(world, 3)
    fine = await asyncio.to_thread(run, world, key=None)
    assert fine.exit_code == 0, fine.output
    assert "signatures of heads were not checked" in fine.stdout
    assert "signatures" not in (await asyncio.to_thread(run, world)).stdout
    await world.rows("DELETE FROM audit_entries WHERE id = 2")
    broken = await asyncio.to_thread(run, world, "--json", key=None)
    assert (broken.exit_code, orjson.loads(broken.stdout)["signatures_checked"]) == (1, False)


async def test_the_head_is_for_admins(world: "World") -> None:
    problem(await world.ask("GET", "/audit-log/head", role=Role.REVIEWER), 403)

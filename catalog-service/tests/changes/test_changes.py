"""What changed, for those who keep a copy."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from catalog_service.links.fields import COLUMNS
from chassis.messaging import outbox
from chassis.messaging.events import SYSTEM, NewEvent
from chassis.messaging.pruning import Pruner
from contracts.catalog import EVENTS, ImportProgressed
from testing.service import problem


async def end(catalog: Any) -> int:
    """Return the position up to which everything is known."""
    return (await catalog.read("/changes", limit=1))["head"]


async def changes(catalog: Any, after: int, limit: int = 500) -> list[dict[str, Any]]:
    """Read everything after a position."""
    read: list[dict[str, Any]] = []
    while True:
        page = await catalog.read("/changes", after=after, limit=limit)
        read += page["items"]
        assert page["next_after"] <= page["head"]
        if page["next_after"] == page["head"]:
            return read
        assert page["next_after"] > after
        after = page["next_after"]


async def test_each_change_is_told_with_who_made_it_and_the_state_after_it(catalog: Any, viewer: Any) -> None:
    before = await end(viewer)
    requirement, test_case = await catalog.pair()
    link = await catalog.link(requirement, test_case, notes="n")
    patched = (await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Another"})).json()
    confirmed = (await catalog.post(f"/links/{link['id']}/confirm")).json()
    await catalog.delete(f"/requirements/{requirement['id']}")
    told = await changes(viewer, before)
    shown = [(one["type"], one["action"], one["id"], one["state"]) for one in told]
    stored = [{name: row[name] for name in COLUMNS} for row in (link, confirmed)]
    assert shown == [
        ("requirement", "created", requirement["id"], requirement),
        ("test_case", "created", test_case["id"], test_case),
        ("link", "created", link["id"], stored[0]),
        ("requirement", "updated", requirement["id"], patched),
        ("link", "updated", link["id"], stored[1]),
        ("requirement", "deleted", requirement["id"], None),
        ("link", "deleted", link["id"], None),
    ]
    assert {one["actor"] for one in told} == {catalog.email}
    assert all(one.keys() == {"position", "type", "action", "id", "time", "actor", "state"} for one in told)
    positions = [one["position"] for one in told]
    assert positions == sorted(set(positions))


async def test_the_end_is_told_also_when_there_is_nothing(catalog: Any) -> None:
    head = await end(catalog)
    assert await catalog.read("/changes", after=head) == {"items": [], "next_after": head, "head": head}


async def test_whoever_follows_while_others_write_misses_nothing_and_reads_nothing_twice(catalog: Any) -> None:
    after = first = await end(catalog)
    seen: list[int] = []
    writing = asyncio.gather(*(catalog.requirement() for _ in range(60)))
    while not writing.done() or (await end(catalog)) > after:
        page = await catalog.read("/changes", after=after, limit=7)
        seen += [one["position"] for one in page["items"]]
        after = page["next_after"]
    assert {item["id"] for item in await writing} == {one["id"] for one in await changes(catalog, first)}
    assert seen == [one["position"] for one in await changes(catalog, first)]


async def test_what_is_nobody_elses_concern_is_left_out_and_passed_over(catalog: Any) -> None:
    before = await end(catalog)
    await catalog.requirement()
    async with catalog.database.connection() as connection:
        await connection.execute(
            "INSERT INTO outbox (event_id, wire_name, envelope)"
            " SELECT gen_random_uuid(), 'catalog.coverage.dropped', '{}' FROM generate_series(1, 3)"
        )
    page = await catalog.read("/changes", after=before)
    assert (len(page["items"]), page["next_after"], page["head"]) == (1, before + 4, before + 4)


async def test_a_link_leads_on(catalog: Any) -> None:
    before = await end(catalog)
    await catalog.pair()
    page = await catalog.get("/changes", after=before, limit=1)
    assert page.links["next"]["url"] == f"/api/v1/changes?after={before + 1}&limit=1"
    assert "next" not in (await catalog.get("/changes", after=before + 1, limit=1)).links


async def test_a_position_that_cannot_be_is_refused(catalog: Any) -> None:
    refused = problem(await catalog.get("/changes", after=10**12), 422, field="/query/after")
    assert "after=0" in refused["detail"]
    for wrong in ("-1", "x", str(2**63), ""):
        problem(await catalog.get("/changes", after=wrong), 422, field="/query/after")
    problem(await catalog.get("/changes", limit=501), 422, field="/query/limit")


async def test_what_goes_on_in_an_import_is_no_change_of_an_item(catalog: Any) -> None:
    before = await end(catalog)
    progressed = ImportProgressed(import_id=uuid4(), status="applying", progress=0.5)
    async with catalog.database.transaction() as connection:
        await outbox.record(connection, [NewEvent(progressed, "import", SYSTEM)])
    page = await catalog.read("/changes", after=before)
    assert (page["items"], page["next_after"]) == ([], before + 1)


def copy_of(told: Iterable[dict[str, Any]], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a client's copy becomes by changes."""
    copy = dict(known or {})
    for change in told:
        if change["state"] is None:
            copy.pop(change["id"], None)
        else:
            copy[change["id"]] = change["state"]
    return copy


async def test_a_copy_that_is_begun_or_goes_on_where_the_feed_was_pruned_is_the_record(
    catalog: Any, viewer: Any
) -> None:
    requirement, test_case = await catalog.pair()
    link = await catalog.link(requirement, test_case)
    gone = await catalog.requirement()
    await catalog.link(gone, test_case)
    for title in ("One", "Two", "Three"):
        await catalog.patch(f"/requirements/{requirement['id']}", {"title": title})
    for notes in ("a", "b"):
        await catalog.patch(f"/links/{link['id']}", {"notes": notes})
    await catalog.delete(f"/requirements/{gone['id']}")
    await catalog.requirement()
    told = await changes(viewer, 0)
    right = copy_of(told)
    assert {requirement["id"], test_case["id"], link["id"]} <= right.keys()
    assert gone["id"] not in right

    async with catalog.database.across() as connection:
        await connection.execute("UPDATE relay_position SET position = (SELECT head FROM feed_head)")
    assert await Pruner(catalog.database, EVENTS, []).prune_some(datetime.now(UTC))

    left = await changes(viewer, 0)
    assert len(left) <= len(told) - 5
    assert copy_of(left) == right
    for place in range(len(told)):
        since = await changes(viewer, told[place]["position"])
        assert copy_of(since, copy_of(told[: place + 1])) == right
    known: set[str] = set()
    for change in left:
        assert change["action"] != "updated" or change["id"] in known
        if change["type"] == "link" and change["state"] is not None:
            assert {change["state"]["requirement_id"], change["state"]["test_case_id"]} <= known
        known.add(change["id"])
    states = [viewer.read(path) for path in (f"/requirements/{requirement['id']}", f"/links/{link['id']}")]
    for state in await asyncio.gather(*states):
        assert right[state["id"]] == {name: state[name] for name in right[state["id"]]}

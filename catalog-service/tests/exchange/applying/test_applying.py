"""What applying an import makes of the record, and what it tells of it."""

import asyncio
from typing import Any
from uuid import uuid4

import orjson
import pytest

from catalog_service.exchange.applying import Applied, Cancelled, RecordChanged, apply
from catalog_service.exchange.applying.repository import read_batches
from catalog_service.exchange.applying.searchable import complete
from chassis.messaging.events import Message, NewEvent
from contracts import catalog as contract
from testing.postgres import as_owner

from .conftest import Plan

PAYLOADS = {payload.wire_name: payload for payload in contract.EVENTS}
ODD = "Türen “zu”\r\n\u2028 \U0001f6aa \\ \" ' \t\x0b"


def told_by_the_model(event: dict[str, Any]) -> dict[str, Any]:
    """Return the envelope that NewEvent writes of the same."""
    received = Message.read(orjson.dumps(event | {"sequence": 1})).decode(PAYLOADS[event["type"]])
    written = NewEvent(
        received.data,
        event["subject"],
        received.actor,
        id=received.id,
        time=received.time,
        correlation_id=received.correlation_id,
        gateway_request_id=received.gateway_request_id,
        batch_id=received.batch_id,
        project=received.project,
    ).envelope()
    envelope: dict[str, Any] = orjson.loads(written)
    return envelope


def types(value: Any) -> Any:
    """Return the JSON types of a document, at their places."""
    if isinstance(value, dict):
        return {name: types(member) for name, member in value.items()}
    if isinstance(value, list):
        return [types(member) for member in value]
    return type(value)


@pytest.fixture
async def life(catalog: Any, plan: Any) -> Any:
    """An import that creates, changes and deletes of everything something."""
    kept, gone = await catalog.requirement(tags=["a"]), await catalog.requirement()
    case, old_case = await catalog.test_case(steps={"1": "Open."}), await catalog.test_case()
    link, gone_link = await catalog.link(kept, case), await catalog.link(gone, case)
    other_link = await catalog.link(kept, old_case)
    word = catalog.word()
    new = plan.create("requirement", external_id=word, title=ODD, tags=["x", ODD], custom_metadata={"a": [1.0, None]})
    plan.update("requirement", kept, title="Doors open", module=ODD, custom_metadata={"b": 2.50})
    plan.delete("requirement", gone)
    new_case = plan.create("test_case", steps={"1": "Push.", "2": ODD}, test_data={"n": 1e3}, created_by="bea@x.test")
    plan.update("test_case", case, execution_time_minutes=7, steps={"1": "Close."})
    plan.link(new, new_case, notes=ODD, confidence_score=0.125)
    plan.update("link", link, link_type="verifies", notes="since the import")
    plan.delete("link", other_link)
    return plan, {"kept": kept, "gone": gone, "new": new, "new_case": new_case, "case": case, "gone_link": gone_link}


async def test_events_are_those_that_the_model_writes(life: Any) -> None:
    plan, _ = life
    await plan.apply()
    events = await plan.events()
    assert [event["type"].removeprefix("catalog.") for event in events] == [
        "requirement.updated",
        "test_case.updated",
        "requirement.created",
        "test_case.created",
        "link.updated",
        "link.created",
        "link.deleted",
        "requirement.deleted",
        "link.deleted",
        "import.applied",
    ]
    for event in events:
        event.pop("position")
        written = told_by_the_model(event)
        assert event == written
        assert types(event) == types(written)
        assert (event["actor"], event["actorid"], event["correlationid"], event["gatewayrequestid"]) == (
            "importer@example.test",
            9,
            "request-9",
            "gateway-9",
        )


async def test_the_record_is_as_the_plan_says(catalog: Any, life: Any) -> None:
    plan, items = life
    applied = await plan.apply()
    assert applied.counts == {
        "requirement": {"update": 1, "create": 1, "delete": 1},
        "test_case": {"update": 1, "create": 1},
        "link": {"update": 1, "create": 1, "delete": 1},
    }
    new = await catalog.read(f"/requirements/{items['new']}")
    assert (new["title"], new["tags"], new["custom_metadata"]) == (ODD, ["x", ODD], {"a": [1.0, None]})
    assert (new["version"], new["created_by"], new["created_at"]) == (1, "importer@example.test", new["updated_at"])
    kept = await catalog.read(f"/requirements/{items['kept']['id']}")
    assert (kept["title"], kept["module"], kept["tags"], kept["version"]) == ("Doors open", ODD, ["a"], 2)
    assert kept["created_at"] == items["kept"]["created_at"] < kept["updated_at"]
    case = await catalog.read(f"/test-cases/{items['case']['id']}")
    assert (case["steps"], case["execution_time_minutes"], case["version"]) == ({"1": "Close."}, 7, 2)
    assert (await catalog.get(f"/requirements/{items['gone']['id']}")).status_code == 404
    (made,) = (await catalog.read("/links", requirement_id=items["new"]))["items"]
    assert (made["link_source"], made["confidence_score"], made["suspect"]) == ("imported", 0.125, False)
    (changed,) = (await catalog.read("/links", requirement_id=items["kept"]["id"]))["items"]
    assert (changed["link_type"], changed["notes"], changed["suspect"]) == ("verifies", "since the import", True)
    assert changed["suspect_reason"]["requirement"]["fields"] == ["title"]
    assert changed["suspect_reason"]["test_case"]["fields"] == ["steps"]


async def test_events_tell_what_is_stored(catalog: Any, life: Any) -> None:
    plan, items = life
    await plan.apply()
    events = {(event["type"], event["subject"]): event["data"] for event in await plan.events()}
    for path, kind, item_id, done in (
        ("/requirements", "requirement", items["new"], "created"),
        ("/test-cases", "test_case", items["new_case"], "created"),
        ("/requirements", "requirement", items["kept"]["id"], "updated"),
        ("/test-cases", "test_case", items["case"]["id"], "updated"),
    ):
        stored = await catalog.read(f"{path}/{item_id}")
        stored.pop("coverage", None)
        assert events[f"catalog.{kind}.{done}", item_id][kind] == stored
    assert events["catalog.requirement.updated", items["kept"]["id"]]["changes"] == {
        "title": {"before": "Doors close", "after": "Doors open"},
        "module": {"before": None, "after": ODD},
        "custom_metadata": {"before": None, "after": {"b": 2.5}},
    }


async def test_an_event_has_the_id_of_the_record_not_that_of_the_file(catalog: Any, plan: Any) -> None:
    theirs = str(uuid4())
    ours = plan.create("requirement", id=theirs, title="From elsewhere")
    await plan.apply()
    told = (await plan.events())[0]
    stored = await catalog.read(f"/requirements/{ours}")
    stored.pop("coverage", None)
    assert (told["subject"], told["data"]["requirement"]) == (ours, stored)


async def test_each_event_has_an_id_of_its_own(catalog: Any, plan: Any) -> None:
    requirement, test_case = await catalog.pair()
    link = await catalog.link(requirement, test_case)
    plan.update("requirement", requirement, title="Doors open")
    plan.update("link", link, notes="by hand")
    plan.delete("test_case", test_case)
    await plan.apply()
    events = await plan.events()
    assert [event["type"] for event in events if event["subject"] == link["id"]] == [
        "catalog.link.updated",
        "catalog.link.deleted",
    ]
    assert len({event["id"] for event in events}) == len(events)


async def test_a_deleted_item_leaves_a_tombstone(catalog: Any, life: Any) -> None:
    plan, items = life
    await plan.apply()
    (tombstone,) = await catalog.rows("SELECT * FROM deleted_items WHERE id = %s", items["gone"]["id"])
    assert (tombstone["kind"], tombstone["deleted_by"]) == ("requirement", "importer@example.test")


async def test_history_tells_the_import(catalog: Any, life: Any) -> None:
    plan, items = life
    await plan.apply()
    history = await catalog.read(f"/requirements/{items['kept']['id']}/history")
    assert {"title", "module"} <= history["items"][0]["changes"].keys()
    assert history["items"][0]["actor"] == "importer@example.test"
    by_import = await catalog.read(f"/test-cases/{items['new_case']}/history")
    assert by_import["items"][-1]["actor"] == "importer@example.test"


async def test_what_was_imported_is_found_when_the_worker_has_made_its_documents(catalog: Any, plan: Any) -> None:
    old, new = catalog.word(), catalog.word()
    item = await catalog.requirement(title=old)
    plan.update("requirement", item, title=new)
    case = plan.create("test_case", steps={"1": new})
    await plan.apply()

    async def found(word: str) -> list[str]:
        return [hit["id"] for hit in (await catalog.read("/search", q=word))["items"]]

    assert (await found(old), await found(new)) == ([], [])
    assert not (await plan.row())["search_ready"]
    await complete(catalog.database)
    assert await found(old) == []
    assert set(await found(new)) == {item["id"], case}
    assert (await plan.row())["search_ready"]
    written = await catalog.requirement(title=catalog.word())
    assert await found(written["title"]) == [written["id"]]


async def test_batches_are_no_larger_than_they_may_be_and_leave_no_row_out(catalog: Any, plan: Any) -> None:
    kinds = ["requirement", "test_case", "requirement", "requirement", *("test_case",) * 9, *("requirement",) * 8]
    for kind in kinds:
        plan.create(kind)
    async with catalog.database.connection() as connection:
        rows, ends = await read_batches(connection, (await plan.store()).id, 4)
    for kind in set(kinds):
        places = [position for position, one in enumerate(kinds) if one == kind]
        assert rows[kind, "create"] == len(places)
        last = -1
        for end in ends[kind, "create"]:
            assert 0 < sum(last < place <= end for place in places) <= 4
            last = end
        assert last == places[-1]


async def test_an_import_without_changes_is_told_by_one_event(catalog: Any, plan: Any) -> None:
    plan.unchanged("requirement", await catalog.requirement())
    assert (await plan.apply()).counts == {}
    (only,) = await plan.events()
    assert (only["type"], only["data"]["counts"]) == ("catalog.import.applied", {})
    assert (await plan.row())["search_ready"]


async def test_applied_again_it_does_nothing(catalog: Any, life: Any) -> None:
    plan, _ = life
    first = await plan.apply()
    told = await plan.events()
    assert await apply(catalog.database, await plan.job(), _go_on) == first
    assert await plan.events() == told


CHANGED_MEANWHILE = pytest.mark.parametrize(
    "change", [{"title": "Somebody else's"}, {"status": "approved"}, None], ids=["meaning", "status", "deleted"]
)


@CHANGED_MEANWHILE
@pytest.mark.parametrize("action", ["update", "delete"])
async def test_a_target_that_was_changed_refuses_all(
    catalog: Any, plan: Any, change: dict[str, Any] | None, action: str
) -> None:
    item = await catalog.requirement()
    new = plan.create("requirement")
    if action == "update":
        plan.update("requirement", item, title="The file's", status="closed")
    else:
        plan.delete("requirement", item)
    job = await plan.store()
    path = f"/requirements/{item['id']}"
    await (catalog.delete(path) if change is None else catalog.patch(path, change))
    if action == "delete" and change == {"status": "approved"}:
        # A deletion is planned for a version.
        await apply(catalog.database, job, _go_on)
        return
    with pytest.raises(RecordChanged) as refused:
        await apply(catalog.database, job, _go_on)
    assert refused.value.rows == {"requirement": 1}
    assert (await catalog.get(f"/requirements/{new}")).status_code == 404
    assert await plan.events() == []
    assert (await plan.row())["applied_at"] is None


async def test_rows_without_a_plan_refuse_all(catalog: Any, plan: Any) -> None:
    plan.create("requirement")
    plan.create("requirement")
    plan.rows[1]["action"] = None
    with pytest.raises(RecordChanged):
        await plan.apply()
    assert await plan.events() == []


async def test_an_item_that_was_to_stay_as_it_is_and_did_not_refuses_all(catalog: Any, plan: Any) -> None:
    item = await catalog.requirement()
    plan.unchanged("requirement", item)
    job = await plan.store()
    await catalog.patch(f"/requirements/{item['id']}", {"title": "Another"})
    with pytest.raises(RecordChanged):
        await apply(catalog.database, job, _go_on)


async def test_on_demand_what_others_changed_is_changed_all_the_same(catalog: Any, plan: Any) -> None:
    plan.options["on_change"] = "overwrite"
    item = await catalog.requirement()
    plan.update("requirement", item, title="The file's")
    job = await plan.store()
    await catalog.patch(f"/requirements/{item['id']}", {"title": "Somebody else's"})
    await apply(catalog.database, job, _go_on)
    (updated, _) = await plan.events()
    assert updated["data"]["changes"] == {"title": {"before": "Somebody else's", "after": "The file's"}}
    assert updated["data"]["requirement"]["version"] == 3


async def test_who_locks_the_same_in_another_order_goes_first(catalog: Any, plan: Any) -> None:
    first, last = sorted([await catalog.requirement(), await catalog.requirement()], key=lambda item: item["id"])
    for item in (first, last):
        plan.update("requirement", item, title="The file's")
    job = await plan.store()
    lock = "SELECT FROM requirements WHERE id = %s FOR UPDATE"
    async with as_owner(catalog.database) as looking, as_owner(catalog.database) as other, other.transaction():
        # PostgreSQL ends a circle by whoever notices it: that is to be the import, a second after it began to wait.
        await other.execute("SET LOCAL deadlock_timeout = '1min'")
        await other.execute(lock, (last["id"],))
        applying = asyncio.create_task(apply(catalog.database, job, _go_on))
        for _ in range(1000):
            if (await looking.execute("SELECT FROM pg_locks WHERE NOT granted")).rowcount:
                break
            await asyncio.sleep(0.01)
        await other.execute(lock, (first["id"],))
    assert (await applying).counts == {"requirement": {"update": 2}}
    assert len(await plan.events()) == 3


async def test_an_external_id_that_somebody_took_refuses_all(catalog: Any, plan: Any) -> None:
    word = catalog.word()
    plan.create("requirement")
    plan.create("requirement", external_id=word)
    job = await plan.store()
    await catalog.requirement(external_id=word)
    with pytest.raises(RecordChanged):
        await apply(catalog.database, job, _go_on)
    assert await plan.events() == []


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_key_of_a_mapping_that_somebody_took_is_not_made_again(catalog: Any, plan: Any, atomic: bool) -> None:
    plan.options |= {"atomic": atomic, "mapping": {"key": ["title", "module"]}}
    word = catalog.word()
    plan.create("requirement", title=word, module="Doors")
    plan.create("requirement", title=word, module="Gates")
    job = await plan.store()
    await catalog.requirement(title=word, module="Doors")
    if atomic:
        with pytest.raises(RecordChanged):
            await apply(catalog.database, job, _go_on)
        assert await plan.events() == []
    else:
        applied = await apply(catalog.database, job, _go_on)
        assert (applied.counts, applied.refused) == ({"requirement": {"create": 1}}, {"requirement": 1})


async def test_imports_with_keys_of_mappings_look_one_after_the_other(catalog: Any) -> None:
    word = catalog.word()
    plans = [Plan(catalog, {"mapping": {"key": ["title"]}}) for _ in range(2)]
    for plan in plans:
        plan.create("requirement", title=word)
    jobs = [await plan.store() for plan in plans]
    applied = await asyncio.gather(*(apply(catalog.database, job, _go_on) for job in jobs), return_exceptions=True)
    assert {type(one) for one in applied} == {Applied, RecordChanged}


async def test_a_link_whose_end_is_gone_refuses_all(catalog: Any, plan: Any) -> None:
    requirement, case = await catalog.pair()
    plan.link(requirement["id"], case["id"])
    job = await plan.store()
    await catalog.delete(f"/test-cases/{case['id']}")
    with pytest.raises(RecordChanged) as refused:
        await apply(catalog.database, job, _go_on)
    assert refused.value.rows == {"link": 1}


async def test_in_parts_what_cannot_be_applied_is_reported_and_the_rest_stays(catalog: Any, plan: Any) -> None:
    plan.options["atomic"] = False
    word = catalog.word()
    item = await catalog.requirement()
    new = plan.create("requirement")
    plan.create("requirement", external_id=word)
    plan.update("requirement", item, title="The file's")
    job = await plan.store()
    await catalog.requirement(external_id=word)
    await catalog.patch(f"/requirements/{item['id']}", {"title": "Somebody else's"})
    applied = await apply(catalog.database, job, _go_on)
    assert (applied.counts, applied.refused) == ({"requirement": {"create": 1}}, {"requirement": 2})
    assert (await catalog.get(f"/requirements/{new}")).status_code == 200
    rows = await catalog.rows("SELECT action, code FROM import_rows WHERE job_id = %s ORDER BY position", plan.id)
    assert [(row["action"], row["code"]) for row in rows] == [
        ("create", None),
        ("conflict", "record_changed"),
        ("conflict", "record_changed"),
    ]


async def test_in_parts_it_goes_on_where_a_crash_left_it(catalog: Any, plan: Any) -> None:
    plan.options["atomic"] = False
    items = [plan.create("requirement") for _ in range(2500)]
    case = plan.create("test_case")
    for item in items:
        plan.link(item, case)
    job = await plan.store()
    calls = 0

    async def die(_: float) -> bool:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise ConnectionError
        return True

    with pytest.raises(ConnectionError):
        await apply(catalog.database, job, die)
    assert 0 < len(await plan.events()) < 5002
    applied = await apply(catalog.database, job, _go_on)
    assert applied.counts == {"requirement": {"create": 2500}, "test_case": {"create": 1}, "link": {"create": 2500}}
    events = await plan.events()
    assert len({event["subject"] for event in events}) == len(events) == 5002


@pytest.mark.parametrize("atomic", [True, False])
async def test_a_cancelled_import_tells_what_it_has_applied(catalog: Any, plan: Any, atomic: bool) -> None:
    plan.options["atomic"] = atomic
    for _ in range(2001):
        plan.create("requirement")
    job = await plan.store()
    shares: list[float] = []

    async def cancel(share: float) -> bool:
        shares.append(share)
        return len(shares) < 5

    with pytest.raises(Cancelled) as cancelled:
        await apply(catalog.database, job, cancel)
    assert shares == sorted(shares)
    assert 0.6 <= shares[0] <= shares[-1] <= 1
    events = await plan.events()
    if atomic:
        assert (events, cancelled.value.applied) == ([], None)
    else:
        assert cancelled.value.applied.counts == events[-1]["data"]["counts"] == {"requirement": {"create": 2000}}
        assert len(events) == 2001
        assert events[-1]["data"]["not_applied"] == cancelled.value.applied.left_out == 1


async def test_a_restore_keeps_ids_versions_times_and_confirmations(catalog: Any, plan: Any) -> None:
    plan.options["mode"] = "restore"
    times = {"created_at": "2020-02-03T04:05:06.000007Z", "updated_at": "2021-02-03T04:05:06.000007Z"}
    who = {"created_by": "old@example.test"}
    requirement = plan.create("requirement", version=3, **times, **who)
    case = plan.create("test_case", version=2, **times, **who)
    confirmed = {"confirmed_at": "2020-06-01T00:00:00Z", "confirmed_by": "kim@example.test"}
    link = plan.link(
        requirement, case, requirement_version=2, test_case_version=2, link_source="manual", **times, **who, **confirmed
    )
    plan.create(
        "revision", item_id=requirement, version=3, changed_fields=["priority"], changed_at="2021-02-03T04:05:06Z"
    )
    await plan.apply()
    stored = await catalog.read(f"/requirements/{requirement}")
    assert {name: stored[name] for name in ("version", *times, *who)} == {"version": 3, **times, **who}
    stored_link = await catalog.read(f"/links/{link}")
    assert {name: stored_link[name] for name in (*times, *who, *confirmed)} == {**times, **who, **confirmed}
    assert stored_link["suspect_reason"]["requirement"] == {
        "from_version": 2,
        "to_version": 3,
        "fields": ["priority"],
    }
    for event in (await plan.events())[:-1]:
        event.pop("position")
        assert types(event) == types(told_by_the_model(event))


async def test_a_restore_leaves_out_revisions_of_items_that_are_not_of_the_record(catalog: Any, plan: Any) -> None:
    plan.options["mode"] = "restore"
    elsewhere = str(uuid4())
    changed = {"version": 2, "changed_fields": ["title"], "changed_at": "2021-02-03T04:05:06Z"}
    plan.create("revision", item_id=elsewhere, **changed)
    await plan.apply()
    assert await catalog.rows("SELECT FROM item_revisions WHERE item_id = %s", elsewhere) == []


async def test_a_restore_over_what_is_there_brings_it_to_the_file(catalog: Any, plan: Any) -> None:
    plan.options |= {"mode": "restore", "on_change": "overwrite"}
    item = await catalog.requirement()
    plan.update("requirement", item, version=7, updated_at="2021-02-03T04:05:06.000007Z")
    await plan.apply()
    stored = await catalog.read(f"/requirements/{item['id']}")
    assert (stored["version"], stored["updated_at"]) == (7, "2021-02-03T04:05:06.000007Z")
    assert (await plan.events())[0]["data"]["changes"] == {}


async def _go_on(_: float) -> bool:
    return True

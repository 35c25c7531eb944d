"""Projects: nothing crosses from one into another, and each has its turn."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from chassis.core import projects
from chassis.core.identity import Identity, Role
from chassis.core.projects import MAIN, NONE
from chassis.messaging.bus import Publication
from chassis.messaging.events import Actor, NewEvent, sequenced
from contracts import auth
from contracts.projects import Language, ProjectSettings, ProjectState
from suggestion_service.engine.text.languages import LANGUAGES
from suggestion_service.projects import remove_deleted
from suggestion_service.review_model.trainer import Trainer
from suggestion_service.scoring import on_change
from suggestion_service.scoring.corpora import Corpora
from suggestion_service.scoring.new_scale import NewScale
from suggestion_service.scoring.on_change import ChangeScoring
from suggestion_service.store import settlement
from testing.service import Json, ServiceClient, ok, problem

PUMP = "the pump stops when the tank is full"
REVIEWER = Identity(1, "reviewer@example.test", Role.REVIEWER)
ROOT = Actor(9, "root@example.test")


@pytest.fixture
async def service(serve: Callable[..., Awaitable[Any]]) -> Any:
    """As it runs: in no project unless it is said."""
    return await serve(project=NONE)


def of(service: Any, key: str, user: int = 1) -> ServiceClient:
    client: ServiceClient = service.client(replace(REVIEWER, id=user, project=key))
    return client


async def pair(service: Any, key: str, text: str = PUMP, *, times: int = 1) -> tuple[uuid.UUID, uuid.UUID]:
    """Tell of a pair with this text in a project, or of several; return the last."""
    with projects.within(key):
        for _ in range(times):
            made = service.catalog.requirement(text), service.catalog.test_case(text)
    await service.follow()
    return made


async def suggestions(service: Any, key: str, **params: Any) -> list[Json]:
    items: list[Json] = (await of(service, key).read("/suggestions", **params))["items"]
    return items


async def score(service: Any) -> None:
    while await service.scoring.score_waiting():
        pass


def told(number: int, payload: type, key: str, **settings: Any) -> bytes:
    state = ProjectState(
        key=key,
        name=key,
        description="",
        visibility="open",
        archived=payload is auth.ProjectArchived,
        settings=ProjectSettings(**settings),
    )
    more = {} if payload in (auth.ProjectCreated, auth.ProjectDeleted) else {"changes": {}}
    return sequenced(number, NewEvent(payload(project=state, **more), key, ROOT).envelope())


async def test_a_project_sees_and_changes_its_own_suggestions_alone(service: Any) -> None:
    requirement, test_case = await pair(service, MAIN)
    await pair(service, "DOOR")
    await score(service)
    [mine] = await suggestions(service, MAIN)
    [_] = await suggestions(service, "DOOR")
    door, id_ = of(service, "DOOR"), mine["id"]

    for params in ({"ids": id_}, {"requirement_id": str(requirement)}, {"test_case_id": str(test_case)}):
        found = await door.read("/suggestions", **params)
        assert (found["items"], found["total"]) == ([], 0)
    problem(await door.get(f"/suggestions/{id_}"), 404, "suggestion_not_found")
    for change in ("accept", "reject", "reopen"):
        problem(await door.post(f"/suggestions/{id_}/{change}"), 404, "suggestion_not_found")
    bulk = ok(await door.post("/suggestions/bulk-review", json={"ids": [id_], "action": "reject"}))
    assert [item["code"] for item in bulk["items"]] == ["suggestion_not_found"]
    assert (await door.read("/suggestions"))["total"] == 1
    assert (await door.read("/analytics/suggestion-performance"))["totals"]["all"] == 1
    assert await suggestions(service, MAIN) == [mine]

    rejected = ok(await of(service, MAIN).post(f"/suggestions/{id_}/reject"))
    problem(await door.post(f"/suggestions/reviews/{rejected['review_id']}/undo"), 404, "review_not_found")
    assert [one["status"] for one in await suggestions(service, MAIN)] == ["rejected"]


async def test_a_run_is_of_its_project(service: Any) -> None:
    for key in (MAIN, "DOOR"):
        await pair(service, key)
    asked = await of(service, "DOOR").post("/suggestions/generate", headers={"Prefer": "respond-async"})
    run = f"/suggestions/runs/{ok(asked, 202)['id']}"
    main = of(service, MAIN)
    problem(await main.get(run), 404, "run_not_found")
    problem(await main.post(f"{run}/cancel"), 404, "run_not_found")
    while await service.runs.work_off_next():
        pass
    done = await of(service, "DOOR").read(run)
    assert (done["status"], done["suggestions_created"]) == ("completed", 1)
    assert (await main.read("/suggestions/runs"))["total"] == 0
    assert [len(await suggestions(service, key)) for key in (MAIN, "DOOR")] == [0, 1]
    [finished] = await service.events("suggestion.run.finished")
    [changed] = await service.events("suggestion.pending_pairs.changed")
    assert (finished["project"], changed["project"]) == ("DOOR", "DOOR")


async def test_a_project_fixes_the_language_of_its_texts_and_what_is_pending_gets_scores_of_it(service: Any) -> None:
    # A few words show no language: they are taken for English, where "Pumpen" and "Pumpe" are two words.
    for key in (MAIN, "DOOR"):
        with projects.within(key):
            service.catalog.requirement("Pumpen Ventil Kessel")
            service.catalog.test_case("Pumpe Ventil Kessel")
        await service.follow()
    await score(service)
    [before] = await suggestions(service, "DOOR")
    assert before["suggestion_metadata"]["language"] == {"requirement": "en", "test_case": "en"}

    await service.inbox.receive([told(1, auth.ProjectUpdated, "DOOR", language="de")])
    await NewScale(service.database, service.scales).bring_over()
    while await service.runs.work_off_next():
        pass
    [after] = await suggestions(service, "DOOR")
    assert after["suggestion_metadata"]["language"] == {"requirement": "de", "test_case": "de"}
    assert (after["id"], after["similarity_score"] > before["similarity_score"]) == (before["id"], True)
    [finished] = await service.events("suggestion.run.finished")
    assert (finished["project"], finished["actor"]) == ("DOOR", "system")
    [other] = await suggestions(service, MAIN)
    assert other["similarity_score"] == before["similarity_score"], "each project has its own"

    with projects.within("DOOR"):
        service.catalog.requirement("Ventil Pumpe Kessel")
    await service.follow()
    await score(service)
    languages = [one["suggestion_metadata"]["language"]["requirement"] for one in await suggestions(service, "DOOR")]
    assert languages == ["de", "de"], "what comes later, too"


async def test_words_of_another_project_change_no_score(service: Any) -> None:
    await pair(service, "DOOR", "the valve opens and the pump stops")
    await pair(service, "DOOR", "the valve closes and the lamp burns")
    await score(service)
    before = {(one["requirement_id"], one["similarity_score"]) for one in await suggestions(service, "DOOR")}
    await pair(service, MAIN, "the valve opens", times=10)
    await score(service)
    service.start()
    asked = await of(service, "DOOR").post("/suggestions/generate", headers={"Prefer": "respond-async"})
    ok(asked, 202)
    while await service.runs.work_off_next():
        pass
    assert {(one["requirement_id"], one["similarity_score"]) for one in await suggestions(service, "DOOR")} == before


async def test_projects_take_turns(service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_change, "BATCH", 2)
    await pair(service, "BIG", times=5)
    await pair(service, "SMALL")
    for _ in range(2):
        assert await service.scoring.score_waiting()
    assert len(await suggestions(service, "SMALL")) == 1
    waiting = await service.rows("SELECT project_id, count(*) FROM scoring_queue GROUP BY project_id")
    assert [tuple(row.values()) for row in waiting] == [("BIG", 8)]


async def test_one_job_scores_what_waits_in_many_projects(service: Any) -> None:
    for key in ("ONE", "TWO", "THREE"):
        await pair(service, key)
    assert await service.scoring.score_waiting()
    assert await service.rows("SELECT FROM scoring_queue") == []


async def test_shards_of_projects_take_turns(service: Any) -> None:
    for key in ("BIG", "SMALL"):
        await pair(service, key)
        for user in (1, 2):
            asked = await of(service, key, user).post("/suggestions/generate", headers={"Prefer": "respond-async"})
            ok(asked, 202)
    while await service.runs.work_off_next():
        pass
    ends = [event["project"] for event in await service.events("suggestion.run.finished")]
    assert ends == ["BIG", "SMALL", "BIG", "SMALL"]


async def test_corpora_that_are_idle_go_when_memory_is_short_and_come_back(service: Any) -> None:
    for key in (MAIN, "DOOR"):
        await pair(service, key)
    roomy, tight = Corpora(service.database, 2**30), Corpora(service.database, 1)
    for key in (MAIN, "DOOR", MAIN):
        for corpora in (roomy, tight):
            with projects.within(key):
                view = await corpora.refresh()
            assert len(view.text_sequences) == 2
    assert (roomy.loaded, tight.loaded) == (["DOOR", MAIN], [MAIN])


async def test_what_is_pending_is_completed_in_each_project(service: Any) -> None:
    for key in (MAIN, "DOOR"):
        await pair(service, key)
    await service.rows("TRUNCATE scoring_queue")
    for key in (MAIN, "DOOR"):
        with projects.within(key):
            await service.rescore_sweep.sweep()
        assert len(await suggestions(service, key)) == 1
    assert await service.rescore_sweep.sweep_due()


async def test_reviews_teach_their_own_project(service: Any) -> None:
    for key in (MAIN, "DOOR"):
        await pair(service, key)
    await score(service)
    [mine] = await suggestions(service, "DOOR")
    ok(await of(service, "DOOR").post(f"/suggestions/{mine['id']}/reject"))
    await service.trainer.train_due()
    learned = await service.rows("SELECT project_id, rejected FROM learning ORDER BY project_id")
    assert [tuple(row.values()) for row in learned] == [("DOOR", 1), (MAIN, 0)]


async def test_a_project_that_rests_from_learning_holds_up_no_other(
    service: Any, eventually: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
) -> None:
    async def reject_in(key: str) -> None:
        await pair(service, key)
        await score(service)
        found, *_ = await suggestions(service, key, status="pending")
        ok(await of(service, key).post(f"/suggestions/{found['id']}/reject"))

    async def learned() -> dict[str, int]:
        rows = await service.rows("SELECT project_id, rejected FROM learning WHERE seen <> ''")
        return {row["project_id"]: row["rejected"] for row in rows}

    async def main_has() -> bool:
        return MAIN in await learned()

    async def door_has() -> bool:
        return "DOOR" in await learned()

    await reject_in(MAIN)
    learning = asyncio.create_task(Trainer(service.database, rest=1e9).run())
    try:
        await eventually(main_has)
        await reject_in(MAIN)
        await reject_in("DOOR")
        await eventually(door_has)
        assert (await learned())[MAIN] == 1
    finally:
        learning.cancel()
        await asyncio.wait([learning])


async def test_a_project_says_whether_and_how_it_wants_suggestions(service: Any) -> None:
    keyword = {"algorithm": "keyword", "threshold": 0.1}
    await service.inbox.receive(
        [
            told(1, auth.ProjectCreated, "QUIET", automatic_suggestions=False, **keyword),
            told(2, auth.ProjectCreated, "WORDS", **keyword),
        ]
    )
    for key in (MAIN, "QUIET", "WORDS"):
        await pair(service, key)
    await score(service)
    methods = {
        key: [one["suggestion_method"] for one in await suggestions(service, key)] for key in (MAIN, "QUIET", "WORDS")
    }
    assert methods == {MAIN: ["semantic_similarity"], "QUIET": [], "WORDS": ["keyword_match"]}
    asked = await of(service, "QUIET").post("/suggestions/generate", headers={"Prefer": "respond-async"})
    assert [ok(asked, 202)[name] for name in ("algorithm", "threshold")] == ["keyword", 0.1]
    # An event of before, or one more time: nothing changes.
    await service.inbox.receive([told(1, auth.ProjectUpdated, "WORDS", automatic_suggestions=False)])
    await pair(service, "WORDS", "the lamp burns")
    await score(service)
    assert len(await suggestions(service, "WORDS", search="lamp")) == 1


async def test_projects_that_want_no_suggestions_are_not_looked_at_for_a_sweep(service: Any) -> None:
    await service.inbox.receive([told(1, auth.ProjectCreated, "QUIET", automatic_suggestions=False)])
    await service.inbox.receive([told(2, auth.ProjectCreated, "WORDS", automatic_suggestions=True)])
    for key in (MAIN, "QUIET", "WORDS"):
        await pair(service, key)
    async with service.database.across() as connection:
        assert await settlement.unreconciled(connection, automatic=True) == [MAIN, "WORDS"]
        assert await settlement.unreconciled(connection, automatic=False) == ["WORDS"]


async def test_a_project_that_is_archived_is_suggested_nothing_until_it_is_taken_out(service: Any) -> None:
    door = of(service, "DOOR")
    await pair(service, "DOOR")
    waiting = ok(await door.post("/suggestions/generate", headers={"Prefer": "respond-async"}), 202)
    await service.inbox.receive([told(1, auth.ProjectArchived, "DOOR")])
    while await service.runs.work_off_next():
        pass
    await score(service)
    await service.rescore_sweep.sweep_due()
    ended = await door.read(f"/suggestions/runs/{waiting['id']}")
    assert ended["status"] == "failed"
    assert "archived" in ended["error"]
    [finished] = await service.events("suggestion.run.finished")
    assert (finished["project"], finished["data"]["status"]) == ("DOOR", "failed")
    assert await suggestions(service, "DOOR") == []
    await service.inbox.receive([told(2, auth.ProjectUpdated, "DOOR")])
    async with service.database.across() as connection:
        assert await settlement.unreconciled(connection, automatic=True) == ["DOOR"]


async def test_what_is_scored_when_its_project_is_archived_is_not_stored(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pair(service, "DOOR")
    find = ChangeScoring._find

    async def find_and_archive(*asked: Any) -> Any:
        found = await find(*asked)
        await service.inbox.receive([told(1, auth.ProjectArchived, "DOOR")])
        return found

    monkeypatch.setattr(ChangeScoring, "_find", find_and_archive)
    await score(service)
    assert await suggestions(service, "DOOR") == []
    assert await service.rows("SELECT FROM scoring_queue") == []


async def test_runs_of_a_project_that_wanted_none_by_itself_end_with_its_archive_too(service: Any) -> None:
    door = of(service, "DOOR")
    await service.inbox.receive([told(1, auth.ProjectCreated, "DOOR", automatic_suggestions=False)])
    await pair(service, "DOOR")
    waiting = ok(await door.post("/suggestions/generate", headers={"Prefer": "respond-async"}), 202)
    await service.inbox.receive([told(2, auth.ProjectArchived, "DOOR", automatic_suggestions=False)])
    assert (await door.read(f"/suggestions/runs/{waiting['id']}"))["status"] == "failed"


async def test_a_project_that_is_deleted_leaves_nothing(service: Any) -> None:
    for key in (MAIN, "DOOR"):
        await pair(service, key, times=2)
    await score(service)
    for key in (MAIN, "DOOR"):
        first = (await suggestions(service, key))[0]["id"]
        ok(await of(service, key).post(f"/suggestions/{first}/reject"))
        ok(await of(service, key).post("/suggestions/generate", headers={"Prefer": "respond-async"}), 202)
    service.catalog.answers_with = 503
    for one in await suggestions(service, "DOOR", status="pending"):
        problem(await of(service, "DOOR").post(f"/suggestions/{one['id']}/accept"), 503)
    before = await left_of(service, MAIN)
    await service.inbox.receive([told(1, auth.ProjectDeleted, "DOOR")])
    count = "SELECT project_id, count(*) FROM outbox GROUP BY project_id ORDER BY project_id"
    events = await service.rows(count)
    await remove_deleted(service.database)
    await remove_deleted(service.database)
    assert await left_of(service, "DOOR") == {"outbox", "projects"}
    assert await left_of(service, MAIN) == before
    assert await service.rows("SELECT removed FROM projects") == [{"removed": True}]
    assert await service.rows(count) == events, "everybody removes it by themselves"
    told_still = await service.rows(
        "SELECT DISTINCT envelope::json ->> 'data' AS data FROM outbox WHERE project_id = 'DOOR'"
    )
    assert told_still == [{"data": "{}"}]
    # By another feed: it comes when it likes.
    await pair(service, "DOOR")
    await score(service)
    assert await left_of(service, "DOOR") == {"outbox", "projects"}


async def left_of(service: Any, key: str) -> set[str]:
    """The tables that have rows of a project."""
    tables = await service.rows("SELECT relname FROM pg_class WHERE relrowsecurity AND relkind = 'r'")
    return {
        table["relname"]
        for table in tables
        if await service.rows(f"SELECT FROM {table['relname']} WHERE project_id = %s LIMIT 1", key)
    }


async def test_a_worker_serves_all_projects(service: Any, catalog: Any, eventually: Any) -> None:
    for key in (MAIN, "DOOR"):
        with projects.within(key):
            catalog.requirement(PUMP)
            catalog.test_case(PUMP)
    async with service.working() as bus:
        await bus.publish([Publication("catalog.requirement.created", event) for event in catalog.feed])
        for key in (MAIN, "DOOR"):
            await eventually(lambda key=key: suggestions(service, key))
            run = await of(service, key).post("/suggestions/generate")
            assert ok(run)["status"] == "completed"
        [one] = await suggestions(service, "DOOR")
        ok(await of(service, "DOOR").post(f"/suggestions/{one['id']}/accept"))
    assert {event["project"] for event in await service.events()} == {MAIN, "DOOR"}


def test_a_project_may_name_each_language_that_has_words_of_its_own() -> None:
    assert {*LANGUAGES} <= {*Language}

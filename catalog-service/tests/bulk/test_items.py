"""Many requirements or test cases by one request: each by itself, answered in order."""

from typing import Any

import pytest

from catalog_service.bulk import service
from catalog_service.items.bulk import ManyItems
from testing.service import Json, ok, problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def change(catalog: Any, path: str, status: int = 200, **body: Any) -> Json:
    return ok(await catalog.post(f"{path}/bulk", body), status)


async def three(catalog: Any, path: str, **fields: Any) -> list[Json]:
    return [await catalog.create(path, title=title, **fields) for title in ("one", "two", "three")]


def outcomes(answer: Json) -> list[tuple[str, str | None]]:
    return [(one["status"], one["error"] and one["error"]["code"]) for one in answer["results"]]


@BOTH
async def test_a_patch_of_many_does_to_each_what_a_patch_does(catalog: Any, path: str) -> None:
    made = await three(catalog, path, custom_metadata={"a": 1, "b": 2})
    await catalog.patch(f"{path}/{made[1]['id']}", {"priority": "high", "custom_metadata": {"a": None}})
    after = (await catalog.events())[-1]["position"]
    ids = [made[2]["id"], UNKNOWN, made[1]["id"], made[0]["id"]]
    answer = await change(catalog, path, ids=ids, patch={"priority": "high", "custom_metadata": {"a": None}})
    assert [one["id"] for one in answer["results"]] == ids
    missing = f"{'requirement' if path == '/requirements' else 'test_case'}_not_found"
    assert outcomes(answer) == [("changed", None), ("failed", missing), ("unchanged", None), ("changed", None)]
    counts = {"matched": 3, "changed": 2, "unchanged": 1, "failed": 1, "remaining": 0, "dry_run": False, "items": []}
    assert answer | counts == answer
    for one in answer["results"]:
        if one["status"] != "failed":
            read = await catalog.get(f"{path}/{one['id']}")
            assert one["etag"] == read.headers["etag"]
            assert (read.json()["priority"], read.json()["custom_metadata"], read.json()["version"]) == (
                "high",
                {"b": 2},
                2,
            )
    events = await catalog.events(after=after)
    assert {event["subject"] for event in events} == {made[0]["id"], made[2]["id"]}
    for event in events:
        assert event["type"].endswith(".updated")
        assert event["data"]["changes"]["priority"] == {"before": "medium", "after": "high"}
        history = await catalog.read(f"{path}/{event['subject']}/history")
        assert [entry["action"] for entry in history["items"]] == ["updated", "created"]


async def test_links_of_what_many_say_anew_are_suspect(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    link = await catalog.link(requirement, test_case)
    await change(catalog, "/requirements", ids=[requirement["id"]], patch={"title": "Doors open"})
    reason = (await catalog.read(f"/links/{link['id']}"))["suspect_reason"]
    assert reason["requirement"] == {"from_version": 1, "to_version": 2, "fields": ["title"]}
    assert (await catalog.read("/requirements", search="open doors", limit=1))["items"][0]["id"] == requirement["id"]


@BOTH
async def test_tags_are_added_and_removed_one_by_one(catalog: Any, path: str) -> None:
    bare, red = await catalog.create(path), await catalog.create(path, tags=["red", "blue"])
    body = {"ids": [bare["id"], red["id"]], "tags_add": ["new", "new", "blue"], "tags_remove": ["red", "other"]}
    answer = await change(catalog, path, **body, patch={"module": "doors"})
    assert (await catalog.read(f"{path}/{bare['id']}"))["tags"] == ["new", "blue"]
    assert (await catalog.read(f"{path}/{red['id']}"))["tags"] == ["blue", "new"]
    assert (await catalog.read(f"{path}/{red['id']}"))["module"] == "doors"
    assert answer["changed"] == 2
    assert (await change(catalog, path, **body))["unchanged"] == 2
    word = catalog.word()
    await change(catalog, path, ids=[bare["id"]], tags_add=[word])
    assert (await catalog.read(path, search=word))["total"] == 1


@BOTH
async def test_who_names_a_state_changes_only_that(catalog: Any, path: str) -> None:
    first, second, third = await three(catalog, path)
    etags = {one["id"]: (await catalog.get(f"{path}/{one['id']}")).headers["etag"] for one in (first, second)}
    await catalog.patch(f"{path}/{second['id']}", {"module": "theirs"})
    ids = [first["id"], second["id"], third["id"]]
    answer = await change(catalog, path, ids=ids, patch={"module": "ours"}, if_match=etags)
    assert outcomes(answer) == [("changed", None), ("failed", "precondition_failed"), ("changed", None)]
    stale = answer["results"][1]
    assert (stale["error"]["status"], stale["error"]["instance"]) == (412, f"/api/v1{path}/{second['id']}")
    assert stale["etag"] == (await catalog.get(f"{path}/{second['id']}")).headers["etag"], "what there is to look at"
    assert (await catalog.read(f"{path}/{second['id']}"))["module"] == "theirs"


@BOTH
async def test_many_are_deleted_with_their_links(catalog: Any, path: str) -> None:
    other = await catalog.create({"/requirements": "/test-cases", "/test-cases": "/requirements"}[path])
    made = await three(catalog, path)
    links = [await (catalog.link(one, other) if path == "/requirements" else catalog.link(other, one)) for one in made]
    after = (await catalog.events())[-1]["position"]
    answer = await change(catalog, path, ids=[one["id"] for one in made[:2]] + [UNKNOWN], delete=True)
    assert [one["status"] for one in answer["results"]] == ["deleted", "deleted", "failed"]
    assert (answer["changed"], answer["results"][0]["etag"]) == (2, None)
    for one in made[:2]:
        problem(await catalog.get(f"{path}/{one['id']}"), 404)
    assert (await catalog.read(f"/links/{links[2]['id']}"))["id"] == links[2]["id"]
    problem(await catalog.get(f"/links/{links[0]['id']}"), 404)
    events = await catalog.events(after=after)
    assert sorted(event["type"].split(".", 1)[1] for event in events) == sorted(
        ["link.deleted"] * 2 + [f"{'requirement' if path == '/requirements' else 'test_case'}.deleted"] * 2
    )


@BOTH
async def test_a_filter_is_counted_first_and_then_all_or_nothing(catalog: Any, viewer: Any, path: str) -> None:
    module = catalog.word()
    made = await three(catalog, path, module=module)
    asked: dict[str, Any] = {"filter": {"module": module}, "patch": {"source_system": "jira"}}
    preview = await change(catalog, path, **asked)
    assert preview["items"] == [await catalog.read(f"{path}/{one['id']}") for one in made[::-1]]
    assert preview | {"matched": 3, "changed": 0, "dry_run": True, "results": []} == preview
    assert '"expected_count": 3' in preview["message"]
    assert (await change(catalog, path, **asked, expected_count=3, dry_run=True))["changed"] == 0
    refused = await change(catalog, path, 409, **asked, expected_count=2)
    assert (refused["code"], refused["expected_count"], refused["count"]) == ("count_changed", 2, 3)
    problem(await viewer.post(f"{path}/bulk", asked), 403, "role_too_low")
    assert {one["source_system"] for one in (await catalog.read(path, module=module))["items"]} == {None}
    answer = await change(catalog, path, **asked, expected_count=3)
    assert {one["id"] for one in answer["results"]} == {one["id"] for one in made}
    assert answer["changed"] == 3
    assert {one["source_system"] for one in (await catalog.read(path, module=module))["items"]} == {"jira"}


@BOTH
async def test_a_search_is_a_filter_too(catalog: Any, path: str) -> None:
    word = catalog.word()
    made = await catalog.create(path, description=f"All about {word}")
    answer = await change(catalog, path, filter={"search": word}, delete=True, expected_count=1)
    assert [one["id"] for one in answer["results"]] == [made["id"]]


@BOTH
async def test_many_more_than_fit_are_changed_in_parts(
    catalog: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_AT_ONCE", 2)
    monkeypatch.setattr(service, "_MOST_RESULTS", 4)
    module = catalog.word()
    made = [await catalog.create(path, module=module) for _ in range(5)]
    stale = {max(one["id"] for one in made): '"another"'}
    asked = {"filter": {"module": module}, "patch": {"status": None, "type": "functional"}, "tags_add": ["x"]}
    answer = await change(catalog, path, **asked, if_match=stale, expected_count=5)
    assert (answer["matched"], answer["changed"], answer["failed"], answer["remaining"]) == (5, 4, 1, 0)
    assert [one["status"] for one in answer["results"]] == ["failed", "changed", "changed", "changed"]
    assert "`results` shows 4 of 5" in answer["message"]


@BOTH
async def test_what_a_filter_does_not_find_any_more_stays(
    catalog: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = catalog.word()
    first, second = sorted([(await catalog.create(path, module=module))["id"] for _ in range(2)])

    async def find(self: Any, connection: Any, conditions: Any) -> list[Any]:
        found = await real(self, connection, conditions)
        await catalog.patch(f"{path}/{second}", {"module": None})
        return found

    real = ManyItems.find
    monkeypatch.setattr(ManyItems, "find", find)
    answer = await change(catalog, path, filter={"module": module}, delete=True, expected_count=2)
    assert [(one["id"], one["status"]) for one in answer["results"]] == [(first, "deleted"), (second, "failed")]
    assert answer["results"][1]["error"]["code"] == "precondition_failed"
    assert (await catalog.read(f"{path}/{second}"))["id"] == second


@BOTH
async def test_what_there_is_no_time_for_is_said(catalog: Any, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_AT_ONCE", 2)
    monkeypatch.setattr(service, "_SECONDS", -1)
    ids = [one["id"] for one in await three(catalog, path)]
    answer = await change(catalog, path, ids=ids, patch={"module": "m"})
    assert (answer["changed"], answer["remaining"], len(answer["results"])) == (2, 1, 2)
    assert "no time for 1, which is as before" in answer["message"]


@BOTH
async def test_a_dry_run_of_ids_says_what_would_become_of_each(catalog: Any, path: str) -> None:
    made = await three(catalog, path, module="m")
    await catalog.patch(f"{path}/{made[1]['id']}", {"module": "n"})
    after = (await catalog.events())[-1]["position"]
    ids = [made[0]["id"], made[1]["id"], UNKNOWN]
    answer = await change(catalog, path, ids=ids, patch={"module": "n"}, dry_run=True)
    assert [one["status"] for one in answer["results"]] == ["changed", "unchanged", "failed"]
    assert {one["etag"] for one in answer["results"]} == {None}
    assert (answer["changed"], answer["dry_run"]) == (0, True)
    assert (await catalog.read(f"{path}/{made[0]['id']}"))["module"] == "m"
    assert await catalog.events(after=after) == []


@BOTH
async def test_one_that_cannot_be_stored_holds_up_no_other(catalog: Any, path: str) -> None:
    made = await three(catalog, path)
    await catalog.rows(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION USING ERRCODE = 'data_exception'; END $$"
    )
    table = path.strip("/").replace("-", "_")
    await catalog.rows(
        f"CREATE TRIGGER refuse BEFORE UPDATE ON {table} FOR EACH ROW WHEN (OLD.title = 'two')"
        " EXECUTE FUNCTION refuse()"
    )
    answer = await change(catalog, path, ids=[one["id"] for one in made], patch={"module": "m"})
    await catalog.rows("DROP FUNCTION refuse CASCADE")
    assert outcomes(answer) == [("changed", None), ("failed", "invalid_request"), ("changed", None)]


@BOTH
async def test_the_same_key_changes_once(catalog: Any, path: str) -> None:
    made = await catalog.create(path, tags=["a"])
    body, key = {"ids": [made["id"]], "tags_add": ["b"]}, catalog.word()
    first = await catalog.post(f"{path}/bulk", body, idempotency_key=key)
    await catalog.patch(f"{path}/{made['id']}", {"tags": []})
    again = await catalog.post(f"{path}/bulk", body, idempotency_key=key)
    assert (again.status_code, again.content) == (200, first.content)
    assert (await catalog.read(f"{path}/{made['id']}"))["tags"] == []
    problem(
        await catalog.post(f"{path}/bulk", body | {"tags_add": ["c"]}, idempotency_key=key),
        422,
        "idempotency_key_reused",
    )


@BOTH
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"patch": {"module": "m"}}, ""),
        ({"ids": [], "filter": {"module": "m"}, "patch": {"module": "m"}}, ""),
        ({"ids": []}, ""),
        ({"ids": [], "patch": {}}, ""),
        ({"ids": [], "patch": {"module": "m"}, "delete": True}, ""),
        ({"ids": [], "patch": {"modul": "m"}}, "/patch/modul"),
        ({"ids": [], "patch": {"version": 3}}, "/patch/version"),
        ({"ids": [], "patch": {"priority": "purple"}}, "/patch/priority"),
        ({"ids": [], "patch": {"external_id": "X-1"}}, ""),
        ({"ids": [], "patch": {"source_url": "javascript:x()"}}, "/patch/source_url"),
        ({"ids": [], "patch": {"tags": []}, "tags_add": ["x"]}, ""),
        ({"ids": [], "tags_add": ["x"], "tags_remove": ["x"]}, ""),
        ({"ids": [], "tags_add": [" "]}, "/tags_add/0"),
        ({"ids": ["x"], "delete": True}, "/ids/0"),
        ({"ids": [UNKNOWN] * 501, "delete": True}, "/ids"),
        ({"filter": {}, "delete": True}, "/filter"),
        ({"filter": {"modul": "m"}, "delete": True}, "/filter/modul"),
        ({"filter": {"skip": 1}, "delete": True}, "/filter/skip"),
        ({"filter": {"status": "purple"}, "delete": True}, "/filter/status"),
        ({"ids": [], "delete": True, "dryrun": True}, "/dryrun"),
    ],
)
async def test_what_cannot_be_meant_is_refused(catalog: Any, path: str, body: Any, field: str) -> None:
    problem(await catalog.post(f"{path}/bulk", body), 422, field=field)

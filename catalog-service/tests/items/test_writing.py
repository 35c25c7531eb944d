"""Creating, replacing, patching and deleting requirements and test cases: the rules that both share."""

import asyncio
from typing import Any

import pytest

from chassis.core.identity import Identity, Role
from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
UNKNOWN = "00000000-0000-4000-8000-000000000000"

REQUIREMENT = {
    "external_id": "R-1",
    "title": "Überprüfung der Türsensoren 🚪",
    "description": 'Line 1\nLine 2\t"quoted" \\ back\u200bslash ',
    "type": "non_functional",
    "priority": "critical",
    "status": "approved",
    "module": "doors",
    "tags": ["safety", "a,b"],
    "custom_metadata": {"z": 1, "a": {"list": [1, 2.5, None, True, 1e16]}, "": "empty key"},
    "source_system": "jira",
    "source_url": "https://tracker.example/REQ-1?x=1#z",
    "created_by": "importer",
}
TEST_CASE = REQUIREMENT | {
    "type": "integration",
    "status": "ready",
    "steps": {"1": "Press", "2": "Wait", "10": "Look"},
    "preconditions": "The door is shut",
    "postconditions": "The door is open",
    "test_data": {"force": 12.5, "doors": ["left"]},
    "automation_status": "automated",
    "execution_time_minutes": 15,
}
EVERYTHING = pytest.mark.parametrize(("path", "body"), [("/requirements", REQUIREMENT), ("/test-cases", TEST_CASE)])


@EVERYTHING
async def test_every_field_comes_back_as_it_was_sent_with_the_same_etag(
    catalog: Any, path: str, body: dict[str, Any]
) -> None:
    body = body | {"external_id": catalog.word()}
    response = await catalog.post(path, body)
    made = response.json()
    assert response.status_code == 201
    assert {name: made[name] for name in body} == body
    assert response.headers["location"] == f"/api/v1{path}/{made['id']}"
    read = await catalog.get(f"{path}/{made['id']}")
    assert read.content == response.content
    assert read.headers["etag"] == response.headers["etag"]
    assert (await catalog.read(path, external_id=body["external_id"]))["items"] == [
        made | {"etag": response.headers["etag"]}
    ]


@BOTH
async def test_what_is_not_sent_gets_its_default(catalog: Any, path: str) -> None:
    for body in (catalog.item(), catalog.item(status=None, tags=None, module=None, created_by=None)):
        made = (await catalog.post(path, body)).json()
        assert (made["status"], made["version"], made["tags"]) == ("draft", 1, [])
        assert made["created_by"] == catalog.email
        assert made["created_at"] == made["updated_at"]
        assert made["created_at"].endswith("Z")
        for name in ("external_id", "module", "custom_metadata", "source_system", "source_url"):
            assert made[name] is None, name


async def test_a_test_case_is_manual_unless_something_else_is_said(catalog: Any) -> None:
    made = await catalog.test_case()
    assert made["automation_status"] == "manual"
    names = ("steps", "preconditions", "postconditions", "test_data", "execution_time_minutes")
    assert {made[name] for name in names} == {None}


@BOTH
async def test_a_create_ignores_what_it_does_not_know_and_what_is_read_only(catalog: Any, path: str) -> None:
    made = await catalog.create(path, id=UNKNOWN, version=7, created_at="1999-01-01T00:00:00Z", colour="red")
    assert made["id"] != UNKNOWN
    assert made["version"] == 1
    assert made["created_at"] > "2020"
    assert "colour" not in made


@BOTH
async def test_a_title_is_stripped_and_an_optional_blank_text_is_none(catalog: Any, path: str) -> None:
    made = await catalog.create(path, title=f" \t{'é' * 500}\n ", external_id=" ", module="", source_url="")
    assert made["title"] == "é" * 500
    assert (made["external_id"], made["module"], made["source_url"]) == (None, None, None)


@BOTH
async def test_a_text_may_have_its_full_length(catalog: Any, path: str) -> None:
    full = {"external_id": catalog.word() + "e" * 68, "module": "m" * 100, "created_by": "c" * 100}
    made = await catalog.create(path, source_system="s" * 50, **full)
    assert {name: made[name] for name in full} == full
    assert made["source_system"] == "s" * 50


async def test_a_creator_with_a_long_address_is_named_by_its_beginning(catalog: Any) -> None:
    email = f"{'x' * 120}@example.test"
    somebody = catalog.being(Identity(id=9, email=email, role=Role.REVIEWER))
    assert (await somebody.requirement())["created_by"] == email[:100]


async def test_a_very_long_text_of_many_words_is_kept_and_found_by_its_beginning(catalog: Any) -> None:
    word = catalog.word()
    text = f"{word} " + " ".join(f"w{number}-{number}/{number}.example" for number in range(30_000))
    made = await catalog.requirement(description=text[:1_000_000], tags=["t" * 100, *map(str, range(99))])
    assert made["description"] == text[:1_000_000]
    assert [item["id"] for item in (await catalog.read("/requirements", search=word))["items"]] == [made["id"]]


@pytest.mark.parametrize("field", ["custom_metadata", "test_data"])
async def test_free_json_grows_by_patches_up_to_its_bound(catalog: Any, field: str) -> None:
    made = await catalog.test_case(**{field: {"of": {str(n): n for n in range(9_998)}}})
    here = f"/test-cases/{made['id']}"
    assert (await catalog.patch(here, {field: {"one": 1}})).status_code == 200
    told = problem(await catalog.patch(here, {field: {"two": 2}}), 422, field=f"/{field}")
    assert told["errors"][0]["code"] == "too_many"
    assert (await catalog.patch(here, {field: {"one": None, "two": 2}})).status_code == 200


async def test_steps_grow_by_patches_up_to_their_bound(catalog: Any) -> None:
    made = await catalog.test_case(steps={str(n): "Press" for n in range(1, 1001)})
    problem(await catalog.patch(f"/test-cases/{made['id']}", {"steps": {"2000": "Press"}}), 422, field="/steps")
    changed = await catalog.patch(f"/test-cases/{made['id']}", {"steps": {"1000": None, "2000": "Press"}})
    assert len(changed.json()["steps"]) == 1000


@BOTH
async def test_an_external_id_is_taken_once_for_each_kind(catalog: Any, path: str) -> None:
    taken = catalog.word()
    first = await catalog.create(path, external_id=taken)
    second = f"{path}/{(await catalog.create(path))['id']}"
    problem(await catalog.post(path, catalog.item(external_id=taken)), 409, "external_id_taken")
    problem(await catalog.put(second, catalog.item(external_id=taken)), 409, "external_id_taken")
    problem(await catalog.patch(second, {"external_id": taken}), 409, "external_id_taken")
    assert len(await catalog.events(subject=second.rpartition("/")[2])) == 1
    await catalog.delete(f"{path}/{first['id']}")
    assert (await catalog.patch(second, {"external_id": taken})).status_code == 200


@BOTH
async def test_of_many_creates_with_one_external_id_one_wins(catalog: Any, path: str) -> None:
    body = catalog.item(external_id=catalog.word())
    answers = await asyncio.gather(*(catalog.post(path, body) for _ in range(12)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 11


@EVERYTHING
async def test_put_replaces_and_what_is_missing_falls_back_to_its_default(
    catalog: Any, path: str, body: dict[str, Any]
) -> None:
    made = (await catalog.post(path, body | {"external_id": None})).json()
    replaced = (await catalog.put(f"{path}/{made['id']}", catalog.item(id=UNKNOWN, colour="red"))).json()
    fresh = await catalog.create(path)
    own = {"id", "created_at", "updated_at", "created_by", "version", "position"}
    assert {name: replaced[name] for name in replaced.keys() - own} == {
        name: fresh[name] for name in fresh.keys() - own
    }
    assert (replaced["id"], replaced["created_at"]) == (made["id"], made["created_at"])
    assert replaced["created_by"] == "importer"
    assert replaced["version"] == 2
    assert (await catalog.read(f"{path}/{made['id']}")) == replaced


@EVERYTHING
async def test_patch_changes_what_it_names_and_null_removes(catalog: Any, path: str, body: dict[str, Any]) -> None:
    made = (await catalog.post(path, body | {"external_id": catalog.word()})).json()
    patch = {"priority": "low", "status": None, "module": None, "tags": None, "custom_metadata": None}
    response = await catalog.patch(f"{path}/{made['id']}", patch, content_type="application/merge-patch+json")
    expected = made | patch | {"status": "draft", "tags": [], "version": 2}
    assert response.json() == expected | {"updated_at": response.json()["updated_at"]}
    assert response.json()["updated_at"] > made["updated_at"]


@BOTH
async def test_patch_merges_objects_deeply_and_replaces_arrays(catalog: Any, path: str) -> None:
    made = await catalog.create(path, custom_metadata={"a": 1, "b": {"c": 2, "d": 3}, "l": [1, 2]}, tags=["x"])
    patch = {"custom_metadata": {"a": None, "b": {"c": 9, "n": {"x": None, "y": 1}}, "l": [3]}, "tags": ["y"]}
    patched = (await catalog.patch(f"{path}/{made['id']}", patch)).json()
    assert patched["custom_metadata"] == {"b": {"c": 9, "d": 3, "n": {"y": 1}}, "l": [3]}
    assert patched["tags"] == ["y"]
    assert patched["version"] == 1


async def test_patch_merges_steps_and_test_data(catalog: Any) -> None:
    made = await catalog.test_case(steps={"1": "a", "2": "b", "10": "c"}, test_data={"k": {"l": 1}})
    patch = {"steps": {"2": None, "3": "d"}, "test_data": {"k": {"m": 2}}}
    patched = (await catalog.patch(f"/test-cases/{made['id']}", patch)).json()
    assert patched["steps"] == {"1": "a", "10": "c", "3": "d"}
    assert patched["test_data"] == {"k": {"l": 1, "m": 2}}
    assert patched["version"] == 2


@BOTH
async def test_patch_refuses_a_field_that_it_does_not_know(catalog: Any, path: str) -> None:
    made = await catalog.create(path)
    item = f"{path}/{made['id']}"
    for unknown in ("titel", "id", "version", "created_at"):
        problem(await catalog.patch(item, {unknown: "x", "module": "m"}), 422, "unknown_field", f"/{unknown}")
    assert await catalog.read(item) == made


@EVERYTHING
async def test_a_change_of_meaning_raises_the_version_by_one(catalog: Any, path: str, body: dict[str, Any]) -> None:
    made = (await catalog.post(path, body | {"external_id": None})).json()
    changes: dict[str, object] = {"title": "t", "description": "d", "type": "functional", "priority": "low"}
    if path == "/test-cases":
        changes |= {"steps": {"1": "x"}, "preconditions": None, "postconditions": "x", "test_data": {"f": 1}}
    for version, (field, value) in enumerate(changes.items(), start=2):
        assert (await catalog.patch(f"{path}/{made['id']}", {field: value})).json()["version"] == version
    several = {"title": "T", "description": "D"}
    assert (await catalog.patch(f"{path}/{made['id']}", several)).json()["version"] == len(changes) + 2


@BOTH
async def test_another_change_raises_no_version_but_the_time(catalog: Any, path: str) -> None:
    made = await catalog.create(path)
    changes = {
        "status": "closed" if path == "/requirements" else "passed",
        "module": "m",
        "tags": ["t"],
        "external_id": catalog.word(),
        "custom_metadata": {"k": "v"},
        "source_system": "s",
        "source_url": "https://server:36677/?urn=urn:telelogic::1-5b-O-12",
        "created_by": "x",
    }
    if path == "/test-cases":
        changes |= {"automation_status": "automatable", "execution_time_minutes": 3}
    patched = (await catalog.patch(f"{path}/{made['id']}", changes)).json()
    assert patched == made | changes | {"updated_at": patched["updated_at"]}
    assert patched["updated_at"] > made["updated_at"]


@EVERYTHING
async def test_a_write_that_changes_nothing_is_no_update(catalog: Any, path: str, body: dict[str, Any]) -> None:
    made = (await catalog.post(path, body | {"external_id": catalog.word()})).json()
    item = f"{path}/{made['id']}"
    assert (await catalog.put(item, made)).json() == made
    assert (await catalog.patch(item, {"title": f" {made['title']} ", "tags": made["tags"]})).json() == made
    assert (await catalog.patch(item, {"custom_metadata": {"absent": None, "z": 1}})).json() == made
    assert (await catalog.patch(item, {})).json() == made
    assert len(await catalog.events(subject=made["id"])) == 1


@BOTH
async def test_one_true_and_1_0_are_different_values_of_metadata(catalog: Any, path: str) -> None:
    made = await catalog.create(path, custom_metadata={"a": 1})
    patched = (await catalog.patch(f"{path}/{made['id']}", {"custom_metadata": {"a": True}})).json()
    assert patched["custom_metadata"]["a"] is True
    assert (await catalog.read(f"{path}/{made['id']}"))["custom_metadata"]["a"] is True


@BOTH
async def test_two_updates_at_once_are_two_versions(catalog: Any, path: str) -> None:
    made = await catalog.create(path)
    item = f"{path}/{made['id']}"
    await asyncio.gather(*(catalog.patch(item, {"title": f"title {number}"}) for number in range(8)))
    assert (await catalog.read(item))["version"] == 9


@BOTH
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
async def test_what_does_not_exist_is_not_found(catalog: Any, path: str, method: str) -> None:
    body = catalog.item() if method in ("PUT", "PATCH") else None
    code = "requirement_not_found" if path == "/requirements" else "test_case_not_found"
    problem(await catalog.request(method, f"{path}/{UNKNOWN}", json=body), 404, code)
    problem(await catalog.request(method, f"{path}/nonsense", json=body), 422, field="/path")


@BOTH
async def test_a_viewer_reads_and_a_stranger_does_not(catalog: Any, viewer: Any, service: Any, path: str) -> None:
    item = f"{path}/{(await catalog.create(path))['id']}"
    await viewer.read(item)
    await viewer.read(path)
    problem(await viewer.post(path, catalog.item()), 403)
    problem(await viewer.put(item, catalog.item()), 403)
    problem(await viewer.patch(item, {}), 403)
    problem(await viewer.delete(item), 403)
    problem(await service.get(item), 403)
    problem(await catalog.request("GET", item, headers={"authorization": "Bearer nonsense"}), 401)

"""Which row is which item, and what becomes of it."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from chassis.core.identity import Identity, Role
from testing.service import ok, problem

from .conftest import Imports


def told(row: Any) -> tuple[Any, Any]:
    return row["action"], row["code"]


async def test_a_plan_that_is_applied_is_in_the_record(imports: Any) -> None:
    record = imports.requirement(tags=["safety"], custom_metadata={"b": 1.0, "a": [None]}, module="Doors")
    job = await imports.load(record)
    assert job["counts"]["requirements"]["create"] == 1
    made = await imports.catalog.read(f"/requirements/by-external-id/{record['external_id']}")
    fields = {name: value for name, value in record.items() if name != "kind"}
    assert fields.items() <= made.items()
    assert (made["version"], made["created_by"], made["status"]) == (1, imports.catalog.email, "draft")
    (row,) = await imports.rows(job)
    assert row["item_id"] == made["id"]


async def test_the_same_file_again_changes_nothing(imports: Any) -> None:
    records = [imports.requirement(custom_metadata={"b": {"c": 1}, "a": 2}), imports.test_case(steps={"1": "Go"})]
    await imports.load(*records)
    job = await imports.plan(*records)
    assert job["counts"]["requirements"]["unchanged"] == job["counts"]["test_cases"]["unchanged"] == 1
    assert job["summary"]["clean"]


async def test_fields_that_a_file_names_change_as_with_patch(imports: Any) -> None:
    record = imports.requirement(custom_metadata={"kept": 1, "gone": 2}, module="Doors")
    await imports.load(record)
    key = {"kind": "requirement", "external_id": record["external_id"]}
    update = {**key, "title": "Other", "module": None, "custom_metadata": {"gone": None, "new": 3}}
    row = await imports.row(update)
    assert told(row) == ("update", None)
    assert row["raises_version"]
    assert {change["field"]: (change["before"], change["after"]) for change in row["changes"]} == {
        "title": (record["title"], "Other"),
        "module": ("Doors", None),
        "custom_metadata": ({"kept": 1, "gone": 2}, {"kept": 1, "new": 3}),
    }
    await imports.load(update)
    changed = await imports.catalog.read(f"/requirements/by-external-id/{record['external_id']}")
    assert (changed["title"], changed["module"], changed["version"]) == ("Other", None, 2)
    assert changed["custom_metadata"] == {"kept": 1, "new": 3}
    assert changed["description"] == record["description"]


async def test_a_merge_that_says_what_is_there_changes_nothing(imports: Any) -> None:
    record = imports.requirement(custom_metadata={"a": 1, "b": 2})
    await imports.load(record)
    key = {"kind": "requirement", "external_id": record["external_id"]}
    assert told(await imports.row({**key, "custom_metadata": {"a": 1}})) == ("unchanged", None)


async def test_fields_that_a_file_lacks_fall_back_where_it_replaces(imports: Any) -> None:
    record = imports.requirement(module="Doors", tags=["safety"], status="approved")
    await imports.load(record)
    shorter = {name: value for name, value in record.items() if name not in {"module", "tags", "status"}}
    row = await imports.row(shorter, mode="replace")
    assert {change["field"]: change["after"] for change in row["changes"]} == {
        "module": None,
        "tags": [],
        "status": "draft",
    }
    lacking = {"kind": "requirement", "external_id": record["external_id"], "title": "T"}
    assert told(await imports.row(lacking, mode="replace")) == ("error", "missing")


async def test_what_a_new_item_needs_is_asked_for(imports: Any) -> None:
    row = await imports.row({"kind": "test_case", "external_id": imports.catalog.word(), "title": "T"})
    assert told(row) == ("error", "missing")
    assert {problem["name"] for problem in row["problems"]} == {"description", "type", "priority"}


async def test_a_value_that_is_none_of_a_list_is_refused_with_the_nearest(imports: Any) -> None:
    job = await imports.plan(imports.requirement(priority="Hihg", title="x" * 501))
    (row,) = await imports.rows(job)
    assert row["action"] == "error"
    by_name = {problem["name"]: problem for problem in row["problems"]}
    assert (by_name["priority"]["code"], by_name["priority"]["value"]) == ("not_one_of", "Hihg")
    assert "Did you mean high?" in by_name["priority"]["message"]
    assert by_name["title"]["code"] == "string_too_long"
    assert {one["code"]: one["row"] for one in job["summary"]["problems"]} == {"not_one_of": 1, "string_too_long": 1}
    assert not job["summary"]["clean"]


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "a\x00b"},
        {"custom_metadata": {"deep": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},
        {"source_url": "javascript:alert(1)"},
        {"tags": ["", "x"]},
        {"tags": "no list"},
        {"title": 5},
    ],
)
async def test_what_no_request_may_say_no_file_may_say(imports: Any, fields: Any) -> None:
    row = await imports.row({**imports.requirement(), **fields})
    assert row["action"] == "error"
    assert row["problems"]


async def test_a_tag_that_is_too_long_is_a_problem_of_its_row_that_says_what_to_do(imports: Any) -> None:
    row = await imports.row(imports.requirement(tags=["short", "x" * 101]))
    (told,) = row["problems"]
    assert (row["action"], told["name"], told["code"]) == ("error", "tags.1", "tag_too_long")
    assert "Shorten it, or put the text into the description" in told["message"]


async def test_an_item_twice_in_a_file_counts_once(imports: Any) -> None:
    record = imports.requirement()
    rows = await imports.rows(await imports.plan(record, imports.requirement(), {**record, "title": "Other"}))
    assert [row["action"] for row in rows] == ["create", "create", "error"]
    assert rows[2]["code"] == "duplicate_in_file"
    assert "row 1 " in rows[2]["problems"][0]["message"]


async def test_the_item_of_another_source_is_taken_over_only_when_asked(imports: Any) -> None:
    record = imports.requirement(source_system="jira")
    await imports.load(record)
    assert told(await imports.row({**record, "source_system": "doors"})) == ("conflict", "other_source")
    adopted = await imports.row({**record, "source_system": "doors"}, adopt=True)
    assert [change["field"] for change in adopted["changes"]] == ["source_system"]
    skipped = await imports.row({**record, "source_system": "doors"}, on_conflict="skip")
    assert told(skipped) == ("skip", "other_source")


async def test_what_is_applied_is_not_applied_again(imports: Any) -> None:
    job = await imports.load(imports.requirement())
    problem(await imports.catalog.post(f"/imports/{job['id']}/apply", {}), 409, "import_not_planned")


async def test_a_row_without_a_key_would_be_created_again(imports: Any) -> None:
    record = {**imports.requirement(), "external_id": None}
    job = await imports.plan(record, apply="if_clean")
    (row,) = await imports.rows(job)
    assert told(row) == ("create", "no_key")
    assert job["summary"]["warnings"][0]["code"] == "no_key"


async def test_an_item_of_another_record_is_found_again_by_its_id_there(imports: Any) -> None:
    record = {**imports.requirement(), "id": str(uuid4()), "external_id": None}
    await imports.load(record)
    again = await imports.row({**record, "title": "Renamed", "external_id": imports.catalog.word()})
    assert (again["action"], {change["field"] for change in again["changes"]}) == ("update", {"title", "external_id"})
    await imports.catalog.delete(f"/requirements/{again['item_id']}")
    assert told(await imports.row(record)) == ("skip", "was_deleted")
    recreated = await imports.load(record, deleted="recreate")
    assert recreated["counts"]["requirements"]["create"] == 1


async def test_rows_without_a_key_are_given_the_next_ones(imports: Any) -> None:
    prefix = imports.catalog.word()
    await imports.load(imports.requirement() | {"external_id": f"{prefix}-7"})
    records = [{**imports.requirement(), "external_id": None} for _ in range(2)]
    job = ok(await imports.send(*records, assign_external_id=f"{prefix}-{{n}}", apply="if_clean"))
    job = await wait_for(imports, job, "applied")
    assert {row["key"] for row in await imports.rows(job)} == {f"{prefix}-8", f"{prefix}-9"}
    assert await imports.catalog.read(f"/requirements/by-external-id/{prefix}-8")


async def wait_for(imports: Any, job: Any, status: str) -> Any:
    """Return a job that was to be applied at once, when it is."""
    for _ in range(200):
        if job["status"] == status:
            return job
        await asyncio.sleep(0.05)
        job = await imports.catalog.read(f"/imports/{job['id']}")
    raise AssertionError(job)


async def test_a_deleted_item_stays_deleted_unless_asked_for(imports: Any) -> None:
    record = imports.requirement()
    await imports.load(record)
    made = await imports.catalog.read(f"/requirements/by-external-id/{record['external_id']}")
    await imports.catalog.delete(f"/requirements/{made['id']}")
    assert told(await imports.row(record)) == ("skip", "was_deleted")
    assert told(await imports.row(record, deleted="recreate")) == ("create", None)


async def test_many_deleted_at_once_stay_deleted_too(imports: Any) -> None:
    records = [imports.test_case() for _ in range(2)]
    job = await imports.load(*records)
    ids = [row["item_id"] for row in await imports.rows(job)]
    ok(await imports.catalog.post("/test-cases/bulk", {"ids": ids, "delete": True}))
    assert (await imports.plan(*records))["counts"]["test_cases"]["skip"] == 2


async def test_what_changed_since_the_export_is_a_conflict(imports: Any) -> None:
    made = await imports.catalog.requirement()
    line = {"kind": "requirement", **made}
    assert told(await imports.row(line)) == ("unchanged", None)
    ok(await imports.catalog.patch(f"/requirements/{made['id']}", {"title": "Newer"}))
    assert told(await imports.row(line)) == ("conflict", "changed_since_export")
    assert told(await imports.row(line, on_conflict="skip")) == ("skip", "changed_since_export")
    assert told(await imports.row(line, on_conflict="overwrite")) == ("update", None)


async def test_an_external_id_of_another_item_is_a_conflict(imports: Any) -> None:
    holder, made = (
        await imports.catalog.requirement(external_id=imports.catalog.word()),
        await imports.catalog.requirement(),
    )
    row = await imports.row({"kind": "requirement", **made, "external_id": holder["external_id"]})
    assert told(row) == ("conflict", "external_id_taken")
    assert holder["id"] in row["problems"][0]["message"]


async def test_what_the_file_lacks_of_a_scope_is_reported_or_deleted(imports: Any) -> None:
    module = imports.catalog.word()
    kept, missing = imports.requirement(module=module), imports.requirement(module=module)
    await imports.load(kept, missing)
    scope = {"scope": f"module:{module}"}
    reported = await imports.plan(kept, missing="report", **scope)
    assert reported["counts"]["requirements"]["skip"] == 1
    too_many = await imports.plan(kept, missing="delete", max_deletions=0, **scope)
    assert too_many["summary"]["problems"][0]["code"] == "too_many_deletions"
    await imports.load(kept, missing="delete", **scope)
    assert (await imports.catalog.get(f"/requirements/by-external-id/{missing['external_id']}")).status_code == 404
    assert await imports.catalog.read(f"/requirements/by-external-id/{kept['external_id']}")


async def test_a_row_that_is_refused_is_not_missing(imports: Any) -> None:
    module = imports.catalog.word()
    record = imports.requirement(module=module)
    await imports.load(record)
    job = await imports.plan({**record, "priority": "?"}, missing="delete", scope=f"module:{module}")
    assert job["counts"]["requirements"] | {"error": 1, "delete": 0} == job["counts"]["requirements"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"missing": "delete"}, "/query/scope"),
        ({"missing": "delete", "scope": "nothing"}, "/query/scope"),
        ({"missing": "delete", "scope": "tag:x", "apply": "always"}, "/query/apply"),
        ({"assign_external_id": "REQ"}, "/query/assign_external_id"),
        ({"kind": "words"}, "/query/kind"),
    ],
)
async def test_options_that_do_not_go_together_are_refused(imports: Any, options: Any, field: str) -> None:
    problem(await imports.send(imports.requirement(), **options), 422, field=field)


async def test_a_record_that_changed_since_the_plan_is_not_changed(imports: Any) -> None:
    record = imports.requirement()
    await imports.load(record)
    made = await imports.catalog.read(f"/requirements/by-external-id/{record['external_id']}")
    job = await imports.plan({**record, "title": "Mine"})
    ok(await imports.catalog.patch(f"/requirements/{made['id']}", {"title": "Theirs"}))
    refused = problem(await imports.catalog.post(f"/imports/{job['id']}/apply", {}), 409, "record_changed")
    assert refused["plan_hash"] != job["plan_hash"]
    assert (await imports.catalog.read(f"/requirements/{made['id']}"))["title"] == "Theirs"
    await imports.apply(job, expect=refused["plan_hash"])
    assert (await imports.catalog.read(f"/requirements/{made['id']}"))["title"] == "Mine"


async def test_a_changed_record_is_planned_again_where_that_is_asked_for(imports: Any) -> None:
    record = imports.requirement()
    job = await imports.plan(record)
    await imports.catalog.requirement(external_id=record["external_id"], title="Theirs")
    applied = await imports.apply(job, on_change="replan")
    assert applied["counts"]["requirements"]["update"] == 1


async def test_a_restore_of_what_another_project_has_is_a_conflict_of_which_nothing_is_applied(imports: Any) -> None:
    module = imports.catalog.word()
    await imports.catalog.requirement(module=module)
    free = await imports.catalog.requirement(module=module)
    admin = Identity(id=1, email="root@example.test", role=Role.ADMIN, project="COPY")
    elsewhere = Imports(imports.catalog.being(admin))
    exported = await imports.catalog.get("/exports", format="ndjson", module=module)
    await imports.catalog.delete(f"/requirements/{free['id']}")
    job = ok(await elsewhere.send_file(exported.content, mode="restore", apply="always"))
    assert job["status"] == "planned"
    assert not job["summary"]["clean"]
    assert job["counts"]["requirements"] == {**job["counts"]["requirements"], "create": 0, "conflict": 2}
    (problem_of_ids,) = job["summary"]["problems"]
    assert (problem_of_ids["code"], problem_of_ids["count"]) == ("ids_taken", 2), "which of them is not told"
    await elsewhere.apply(job)
    assert (await elsewhere.catalog.read("/requirements"))["total"] == 0


async def test_a_plan_says_how_many_items_suggestions_are_looked_for(imports: Any) -> None:
    known, retitled, moved, owned = (imports.requirement(module="a") for _ in range(4))
    await imports.load(known, retitled, moved, owned)
    job = await imports.plan(
        known,
        {**retitled, "title": "Other"},
        {**moved, "module": "b"},
        {**owned, "status": "approved"},
        imports.requirement(),
        imports.test_case(),
    )
    assert (job["summary"]["to_score"], job["options"]["suggest"]) == (4, True)

"""Relations of a file: between what is there, what the same file brings, and what comes later."""

import json
from dataclasses import replace
from typing import Any

import pytest
from exchange_samples import FOLDER

from catalog_service.exchange.kept.finding import kept_relations
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from ..test_relations_kept import packed
from .conftest import Imports
from .test_links import told

ROOT = Identity(id=1, email="root@example.test", role=Role.ADMIN)
BINARY = {"content-type": "application/octet-stream"}


def relation(child: Any, parent: Any, **fields: Any) -> Json:
    return {"kind": "relation", "child": child, "parent": parent, **fields}


def elsewhere(imports: Any) -> Imports:
    """Return imports of a project of their own."""
    return Imports(imports.catalog.being(replace(ROOT, project=imports.catalog.word()[:10].upper())))


async def pairs(imports: Any) -> set[tuple[str, str]]:
    """Return the external ids of the ends of all relations of a project."""
    found = (await imports.catalog.read("/relations", limit=500, expand="items"))["items"]
    return {(one["child"]["external_id"], one["parent"]["external_id"]) for one in found}


async def bring(imports: Any, content: bytes, name: str, **options: Any) -> Json:
    planned = ok(await imports.send_file(content, BINARY, file_name=name, **options))
    assert planned["status"] == "planned", planned
    return await imports.apply(planned)


async def test_requirements_and_their_relation_come_by_one_file(imports: Any) -> None:
    child, parent = imports.requirement(), imports.requirement()
    ends = (child["external_id"], parent["external_id"])
    own = relation(*ends, relation_type="derives_from", role="part of", notes="N")
    job = await imports.load(own, child, parent)
    assert job["counts"]["relations"]["create"] == 1
    made = await imports.catalog.read(f"/requirements/by-external-id/{ends[0]}")
    (found,) = (await imports.catalog.read("/relations", child_id=made["id"], expand="items"))["items"]
    assert (found["parent"]["external_id"], found["relation_type"], found["role"]) == (
        *(ends[1], "derives_from"),
        "part of",
    )
    assert (found["notes"], found["source"], found["suspect"]) == ("N", "imported", False)
    (event,) = await imports.catalog.events(subject=found["id"])
    assert (event["type"], event["data"]["relation"]["child_external_id"]) == ("catalog.relation.created", ends[0])
    again = await imports.load(relation(*ends, role="child of"), child, parent)
    assert again["counts"]["relations"]["update"] == 1
    assert (await imports.catalog.read(f"/relations/{found['id']}"))["role"] == "child of"
    row = await imports.row(relation(*ends))
    assert told(row) == ("unchanged", None)
    assert row["key"] == " → ".join(ends)


@pytest.mark.parametrize("missing", ["parent", "child"])
async def test_a_relation_to_what_is_not_there_waits_and_is_made_when_it_comes(imports: Any, missing: str) -> None:
    catalog, key = imports.catalog, imports.catalog.word()
    there = await catalog.requirement(external_id=catalog.word())
    ends = {"parent": there["external_id"], "child": there["external_id"], missing: key}
    planned = await imports.plan(relation(ends["child"], ends["parent"], role="Satisfies"))
    assert (planned["counts"]["relations"]["wait"], planned["summary"]["clean"]) == (1, True)
    codes = {one["code"] for one in planned["summary"]["warnings"]}
    assert codes == {"reference_waiting", f"{missing}_not_found"}
    await imports.apply(planned)
    (reference,) = (await catalog.read("/references", import_id=planned["id"]))["items"]
    assert (reference["kind"], reference["key"]) == ("relation", ends["parent"])
    come = await catalog.requirement(external_id=key)
    (made,) = (await catalog.read("/relations", **{f"{missing}_id": come["id"]}, expand="items"))["items"]
    assert {end: made[end]["external_id"] for end in ends} == ends
    assert (made["relation_type"], made["role"], made["source"]) == ("refines", "Satisfies", "imported")
    assert (await catalog.read("/references", import_id=planned["id"]))["total"] == 0
    (event,) = await catalog.events(subject=made["id"])
    assert event["data"]["relation"]["child_external_id"] == ends["child"]


async def test_a_reference_that_would_close_a_circle_goes_on_to_wait(imports: Any) -> None:
    catalog, key = imports.catalog, imports.catalog.word()
    top = await catalog.requirement(external_id=catalog.word())
    job = await imports.load(relation(top["external_id"], key))
    below = imports.requirement(external_id=key)
    await imports.load(below, relation(key, top["external_id"]))
    made = (await catalog.read("/relations", parent_id=top["id"], expand="items"))["items"]
    assert [one["child"]["external_id"] for one in made] == [key]
    assert (await catalog.read("/references", import_id=job["id"]))["total"] == 1


async def test_the_rows_of_a_circle_are_refused_and_nothing_else(imports: Any) -> None:
    items = [imports.requirement() for _ in range(4)]
    a, b, c, d = (one["external_id"] for one in items)
    records = (*items, relation(a, b), relation(b, c), relation(c, a), relation(d, a), relation(d, d))
    job = ok(await imports.send(*records))
    assert (job["counts"]["relations"]["error"], job["counts"]["relations"]["create"]) == (4, 1)
    rows = [row for row in await imports.rows(job, limit=50) if row["kind"] == "relation"]
    assert [told(row) for row in rows] == [
        *[("error", "relation_cycle")] * 3,
        ("create", None),
        ("error", "same_item"),
    ]
    assert f"{a} → {b} → {c} → {a}" in rows[0]["problems"][0]["message"]
    assert not job["summary"]["clean"]
    there = [await imports.catalog.requirement(external_id=imports.catalog.word()) for _ in range(2)]
    await imports.catalog.relation(*there)
    row = await imports.row(relation(there[1]["external_id"], there[0]["external_id"]))
    assert told(row) == ("error", "relation_cycle")
    free = await imports.row(relation(there[1]["external_id"], there[0]["external_id"], relation_type="related"))
    assert told(free) == ("create", None)


async def test_a_circle_that_is_closed_behind_a_plan_is_not_made(imports: Any) -> None:
    one, other = [await imports.catalog.requirement(external_id=imports.catalog.word()) for _ in range(2)]
    planned = await imports.plan(relation(one["external_id"], other["external_id"]))
    await imports.catalog.relation(other, one)
    applied = await imports.catalog.post(f"/imports/{planned['id']}/apply", {})
    assert (applied.status_code, (await imports.catalog.read("/relations", child_id=one["id"]))["total"]) != (200, 1)
    assert (await imports.catalog.read("/relations", child_id=one["id"]))["total"] == 0


async def test_what_a_deletion_by_import_takes_along_is_told(imports: Any) -> None:
    module, parent = imports.catalog.word(), await imports.catalog.requirement(external_id=imports.catalog.word())
    gone = await imports.catalog.requirement(external_id=imports.catalog.word(), module=module)
    kept = await imports.catalog.requirement(external_id=imports.catalog.word(), module=module)
    made = [await imports.catalog.relation(gone, other) for other in (parent, kept)]
    item = {"kind": "requirement", **imports.catalog.item(module=module), "external_id": kept["external_id"]}
    await imports.load(item, missing="delete", scope=f"module:{module}")
    for one in made:
        assert [event["type"] for event in await imports.catalog.events(subject=one["id"])] == [
            "catalog.relation.created",
            "catalog.relation.deleted",
        ]


FILES: dict[str, bytes] = {
    "tree.zip": packed(
        {
            "reqs/.doorstop.yml": "settings: {prefix: R}",
            "tests/.doorstop.yml": "settings: {prefix: TST}",
            "reqs/R1.yml": "text: Doors",
            "reqs/R2.yml": "{text: Close, links: [R1]}",
            "reqs/R3.yml": "{text: Lock, links: [R1, R2]}",
            "tests/TST1.yml": "{text: Try, links: [R1]}",
        }
    ),
    "a.sdoc": b"[DOCUMENT]\nTITLE: Doors\n\n[REQUIREMENT]\nUID: R1\nTITLE: Doors\nSTATEMENT: Doors.\nRELATIONS:\n"
    b"- TYPE: Child\n  VALUE: R3\n\n[REQUIREMENT]\nUID: R2\nTITLE: Close\nSTATEMENT: Close.\nRELATIONS:\n"
    b"- TYPE: Parent\n  VALUE: R1\n  ROLE: Refines\n\n[REQUIREMENT]\nUID: R3\nTITLE: Lock\nSTATEMENT: Lock.\n"
    b"RELATIONS:\n- TYPE: Parent\n  VALUE: R2\n",
    "needs.json": b'{"current_version": "1", "versions": {"1": {"needs": {"R1": {"type": "req", "title": "Doors"},'
    b' "R2": {"type": "req", "title": "Close", "links": ["R1"]},'
    b' "R3": {"type": "req", "title": "Lock", "parent_need": "R1", "links": ["R2"]}}}}}',
}
BELOW = {("R2", "R1"), ("R3", "R1"), ("R3", "R2")}


@pytest.mark.parametrize("name", FILES)
async def test_files_of_other_tools_say_what_is_below_what(imports: Any, name: str) -> None:
    here = elsewhere(imports)
    job = await bring(here, FILES[name], name)
    assert job["counts"]["relations"]["create"] == 3
    assert await pairs(here) == BELOW
    again = await bring(here, FILES[name], name)
    assert (again["counts"]["relations"]["unchanged"], again["counts"]["relations"]["create"]) == (3, 0)
    written = await here.catalog.get("/exports", format="reqif")
    there = elsewhere(imports)
    await bring(there, written.content, "a.reqif")
    assert await pairs(there) == BELOW
    back = (await here.catalog.get("/exports", format="ndjson", profile="plain")).content
    third = elsewhere(imports)
    await bring(third, back, "a.ndjson")
    assert await pairs(third) == BELOW


SAMPLES = [
    ("doorstop/edgar", 3, 0),
    ("doorstop/rpmget", 10, 0),
    ("needs-json/demo-needs.json", 2, 0),
    ("openfasttrace/exasol-rls/system_requirements.md", 21, 0),
    ("reqif/rmf-TC1700.reqifz", 1, 0),
    ("strictdoc/zephyr-mutex/mutex.sdoc", 0, 12),
    ("reqif/enterprise-architect.reqif", 0, 1),
]


@pytest.mark.parametrize(("name", "made", "waiting"), SAMPLES, ids=[name for name, *_ in SAMPLES])
async def test_samples_of_real_tools_have_their_relations(imports: Any, name: str, made: int, waiting: int) -> None:
    content, file_name = _sample(name)
    here = elsewhere(imports)
    job = await bring(here, content, file_name)
    assert (await here.catalog.read("/relations"))["total"] == made
    found = {one["code"]: one["count"] for one in job["summary"]["warnings"]}
    assert (job["counts"]["relations"]["wait"], found.get("parent_not_found", 0)) == (waiting, waiting), found
    again = await bring(here, content, file_name)
    assert again["counts"]["relations"]["create"] == 0


def _sample(name: str) -> tuple[bytes, str]:
    """Return a file of a real tool, or the archive of a folder, with its name."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"NOT RUN: there is no {path}")
    if path.is_file():
        return path.read_bytes(), path.name
    files = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return packed(dict(files)), f"{path.name}.zip"


async def test_a_column_of_parents_becomes_relations_where_the_mapping_says_so(imports: Any) -> None:
    word, catalog = imports.catalog.word()[:8], imports.catalog
    rows = (f"{word}-1,Doors,", f"{word}-2,Close,1;later", f"{word}-3,Lock,2; 2")
    text = "\n".join(("ID,Title,Above", *rows))
    fields = {"external_id": {"column": "ID"}, "title": {"column": "Title"}, "description": {"default_from": "title"}}
    parents = {"column": "Above", "split": ";", "prefix": f"{word}-", "role": "part of"}
    mapping = {
        "version": 1,
        "kind": "requirements",
        "fields": {**fields, "type": {"constant": "functional"}, "priority": {"constant": "low"}},
        "relations": {"parents": parents},
    }

    async def sent(mapping: Json, path: str = "/imports") -> Any:
        form = {"file": ("rows.csv", text.encode(), "text/csv"), "mapping": (None, json.dumps(mapping))}
        return await catalog.request("POST", path, files=form)

    plan = ok(await sent(mapping))
    assert {name: plan["counts"]["relations"][name] for name in ("create", "wait", "error")} == {
        "create": 2,
        "wait": 1,
        "error": 0,
    }
    assert "relations_kept" not in {one["code"] for one in plan["summary"]["warnings"]}
    await imports.apply(plan)
    (child,) = (await catalog.read("/requirements", external_id=f"{word}-3"))["items"]
    (made,) = (await catalog.read("/relations", child_id=child["id"], expand="items"))["items"]
    assert (made["parent"]["external_id"], made["relation_type"], made["role"]) == (f"{word}-2", "refines", "part of")
    assert child["custom_metadata"] is None
    again = ok(await sent(mapping))
    assert (again["counts"]["relations"]["unchanged"], again["counts"]["relations"]["wait"]) == (2, 1)
    looked = ok(await sent(mapping, "/imports/inspect"))
    assert next(one["field"] for one in looked["columns"] if one["name"] == "Above") == "parents"
    problem(await sent({**mapping, "relations": {"parents": {"constant": "X"}}}), 422)
    of_tests = {"version": 1, "kind": "test_cases", "fields": fields, "relations": {"parents": parents}}
    assert problem(await sent(of_tests), 422)["errors"][0]["code"] == "wrong_end"


def test_further_data_says_what_stands_above_by_the_words_of_each_format() -> None:
    said = {
        "doorstop": {"links": ["SYS001", "SYS001", 7], "level": "1.2"},
        "strictdoc": {
            "relations": [{"type": "Parent", "value": "S-1", "role": "Refines"}, {"type": "File", "value": "x"}]
        },
        "needs": {"links": ["N-1"], "blocks": ["N-2"]},
        "openfasttrace": {"covers": ["req~a~1"], "depends": ["req~b~1"]},
        "reqif": {"Parent": "R-1"},
        "jira": {
            "Parent": "EP-1",
            "Child": "EP-2",
            "Custom field (Epic Link)": "EP-3",
            "Parent name": "no id at all, this",
        },
        "fields": {"owner": "Kim"},
    }
    assert [(one.parent, one.role) for one in kept_relations(said)] == [
        ("SYS001", None),
        ("S-1", "Refines"),
        ("N-1", None),
        ("req~a~1", None),
        ("EP-1", "Parent"),
        ("EP-3", "Custom field (Epic Link)"),
    ]


async def test_relations_of_what_imports_have_kept_are_planned_made_and_made_once(imports: Any) -> None:
    own = elsewhere(imports)
    catalog = own.catalog
    path = "/relations/from-metadata"
    nothing = ok(await catalog.post(path))
    assert (nothing["status"], nothing["counts"]["relations"]["create"]) == ("applied", 0)
    await catalog.requirement(external_id="SYS001")
    test = await catalog.test_case(external_id="TC-1")
    for key, links in (
        ("SW001", ["SYS001"]),
        ("SW002", ["SYS001", "later"]),
        ("SW003", [test["external_id"], "SW003"]),
    ):
        await catalog.requirement(external_id=key, custom_metadata={"doorstop": {"links": links}})
    plan = ok(await catalog.post(f"{path}?dry_run=true"))
    assert (plan["status"], plan["counts"]["relations"]["create"], plan["counts"]["relations"]["wait"]) == (
        *("planned", 2),
        1,
    )
    assert await pairs(own) == set()
    made = ok(await catalog.post(path))
    assert (made["status"], made["counts"]["relations"]["create"]) == ("applied", 2)
    assert await pairs(own) == {("SW001", "SYS001"), ("SW002", "SYS001")}
    again = ok(await catalog.post(path))
    assert (again["counts"]["relations"]["create"], again["counts"]["relations"]["unchanged"]) == (0, 2)
    await catalog.requirement(external_id="later")
    assert ("SW002", "later") in await pairs(own)

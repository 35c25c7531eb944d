"""Tables of other tools on their way into the record."""

import csv
import io
from typing import Any

import orjson
from tables import workbook

from testing.service import ok, problem

CSV = {"content-type": "text/csv"}
STEPS = "ID,Title,Priority,Step,Expected\n{a},,High,Open,It opens\n,,,Enter,One is in\n{b},Log out,Low,Leave,\n"


async def send(imports: Any, content: bytes | str, **options: Any) -> Any:
    data = content.encode() if isinstance(content, str) else content
    return ok(await imports.send_file(data, CSV, **options))


async def actions(imports: Any, job: Any) -> list[str]:
    return [row["action"] for row in await imports.rows(job)]


async def test_a_table_that_is_sent_again_changes_nothing(imports: Any) -> None:
    key = imports.catalog.word()
    header = "Issue key,Summary,Issue Type,Priority,Labels,Labels"
    content = f"{header}\n{key}-1,Doors close,Story,Highest,a,b\n{key}-2,Open,Bug,,,\n"
    job = await send(imports, content)
    assert (job["format"], await actions(imports, job)) == ("csv", ["create", "create"])
    await imports.apply(job)
    found = (await imports.catalog.read("/requirements", external_id=f"{key}-1"))["items"][0]
    assert (found["priority"], found["tags"], found["source_system"]) == ("critical", ["a", "b"], "jira")
    assert found["custom_metadata"] == {"jira": {"Issue Type": "Story"}}
    again = await send(imports, content)
    assert await actions(imports, again) == ["unchanged", "unchanged"]


async def test_relations_that_are_only_kept_are_said_and_hold_up_an_import_that_nobody_looks_at(imports: Any) -> None:
    key = imports.catalog.word()
    content = f"ID,Title,Parent\n{key}-1,Doors,\n{key}-2,Close,{key}-1\n"
    job = await send(imports, content, apply="if_clean")
    assert (job["status"], job["summary"]["clean"]) == ("planned", False)
    (said,) = [one for one in job["summary"]["warnings"] if one["unclean"]]
    assert (said["code"], said["count"]) == ("relations_kept", 1)
    assert await actions(imports, job) == ["create", "create"]
    assert (await send(imports, content, apply="always"))["status"] == "applied"


async def test_a_table_without_ids_is_matched_by_the_key_that_is_proposed(imports: Any) -> None:
    word = imports.catalog.word()
    content = workbook(
        {"Requirements": [["Title", "Module", "Priority"], [f"{word} a", "m", "High"], [f"{word} b", "m", ""]]}
    )
    inspected = ok(await imports.catalog.request("POST", "/imports/inspect", content=content, headers=CSV))
    assert inspected["mapping"]["key"] == ["title", "module"]
    saved = {"name": word, "mapping": inspected["mapping"]}
    ok(await imports.catalog.post("/imports/mappings", saved), 201)
    await imports.apply(await send(imports, content, mapping=word))
    again = await send(imports, content, mapping=word)
    assert await actions(imports, again) == ["unchanged", "unchanged"]


async def test_a_refused_test_case_is_given_back_with_all_its_rows(imports: Any) -> None:
    a, b = imports.catalog.word(), imports.catalog.word()
    job = await send(imports, STEPS.format(a=a, b=b))
    assert await actions(imports, job) == ["error", "create"]
    answer = await imports.catalog.request("GET", f"/imports/{job['id']}/rows", params={"format": "csv"})
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"), newline="")))
    assert rows[0] == ["ID", "Title", "Priority", "Step", "Expected", "problem"]
    assert [row[3] for row in rows[1:3]] == ["Open", "Enter"]
    mended = "\n".join(",".join(row) for row in rows).replace(f"{a},,", f"{a},Log in,")
    await imports.apply(await send(imports, mended))
    found = (await imports.catalog.read("/test-cases", external_id=a))["items"][0]
    assert found["steps"] == {"1": "Open\nExpected: It opens", "2": "Enter\nExpected: One is in"}
    assert "import" not in found["custom_metadata"]


async def test_a_preset_is_taken_by_its_name(imports: Any) -> None:
    word = imports.catalog.word()
    job = await send(imports, f"Summary,Status,Issue key\nDoors,Open,{word}\n", mapping="jira")
    assert [row["key"] for row in await imports.rows(job)] == [word]
    refused = await imports.send_file(b"Summary\nx\n", CSV, mapping="jirra")
    assert refused.status_code == 422
    assert "jira" in orjson.loads(refused.content)["detail"]


async def test_a_row_of_a_workbook_says_in_which_sheet_it_stands(imports: Any) -> None:
    word = imports.catalog.word()
    header = ["ID", "Title", "Priority", "Type"]
    sheets = {name: [header, [f"{word}-{name}", f"{word} {name}", "High", "Functional"]] for name in ("A_b", "C d")}
    job = await send(imports, workbook(sheets))
    assert {row["key"]: row["sheet"] for row in await imports.rows(job)} == {f"{word}-{name}": name for name in sheets}
    job = await send(imports, f"ID,Title\n{word},Doors\n")
    assert [row["sheet"] for row in await imports.rows(job)] == [None]


def book_of(word: str, *, title: str = "Doors close") -> bytes:
    return workbook(
        {
            "Reqs": [["Req ID", "Title", "Priority"], [f"{word}-1", title, "High"]],
            "Tests": [
                ["Test ID", "Test case", "Estimate"],
                [f"{word}-T", "Close them", "5"],
                [f"{word}-U", "", "x" * 9],
            ],
            "Trace": [
                ["Requirement ID", "Test Case ID"],
                [f"{word}-1", f"{word}-T"],
                [f"{word}-2", f"{word}-T"],
                [f"{word}-" + "2" * 100, f"{word}-T"],
            ],
        }
    )


async def test_links_of_one_sheet_find_the_items_of_others_in_one_plan(imports: Any) -> None:
    word = imports.catalog.word()
    content = book_of(word)
    job = await send(imports, content)
    counted = {one["sheet"]: one for one in job["summary"]["sheets"]}
    assert {sheet: one["links"]["create"] + one["links"]["error"] for sheet, one in counted.items()} == {
        "Reqs": 0,
        "Tests": 0,
        "Trace": 2,
    }
    assert [(row["sheet"], row["action"]) for row in await imports.rows(job)] == [
        ("Reqs", "create"),
        ("Tests", "create"),
        ("Tests", "error"),
        ("Trace", "create"),
        ("Trace", "wait"),
        ("Trace", "error"),
    ]
    applied = await imports.apply(job)
    assert [applied["counts"][kind]["create"] for kind in ("requirements", "test_cases", "links")] == [1, 1, 1]
    (found,) = (await imports.catalog.read("/requirements", external_id=f"{word}-1"))["items"]
    (link,) = (await imports.catalog.read("/links", requirement_id=found["id"]))["items"]
    assert link["link_type"] == "covers"


async def test_refused_rows_of_several_sheets_stand_each_below_its_own_header(imports: Any) -> None:
    word = imports.catalog.word()
    job = await send(imports, book_of(word))
    refused = [row for row in await imports.rows(job) if row["action"] == "error"]
    assert refused[0]["problems"][0]["cell"] == "B3"
    answer = await imports.catalog.request("GET", f"/imports/{job['id']}/rows", params={"format": "csv"})
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"), newline="")))
    assert [row[:3] for row in rows] == [
        ["Test ID", "Test case", "Estimate"],
        [f"{word}-U", "", "x" * 9],
        [],
        ["Requirement ID", "Test Case ID", "problem"],
        [f"{word}-" + "2" * 100, f"{word}-T", rows[4][2]],
    ]
    assert "There is no requirement" in rows[4][2]


async def test_a_mapping_of_a_whole_workbook_is_proposed_saved_and_named(imports: Any) -> None:
    word = imports.catalog.word()
    content = book_of(word)
    seen = ok(await imports.catalog.request("POST", "/imports/inspect", content=content, headers=CSV))
    assert [sheet["role"] for sheet in seen["sheets"]] == ["requirements", "test_cases", "links"]
    assert {row["sheet"] for row in seen["rows"]} == {"Reqs", "Tests", "Trace"}
    mapping = seen["record_mapping"]
    ok(await imports.catalog.post("/imports/mappings", {"name": word, "mapping": mapping}), 201)
    job = await send(imports, content, mapping=word)
    assert job["counts"] == (await send(imports, content))["counts"]
    wrong = {**mapping, "sheets": [{"sheet": "Reqs", "role": "requirements", "fields": {"titel": {"column": "Title"}}}]}
    answer = await imports.catalog.post("/imports/mappings", {"name": f"{word} 2", "mapping": wrong})
    problem(answer, 422, field="/mapping/sheets/0/fields/titel")
    answer = await imports.catalog.post(
        "/imports/mappings", {"name": f"{word} 3", "mapping": {**mapping, "key": ["x"]}}
    )
    problem(answer, 422, field="/mapping/key/0")


async def test_a_plan_with_a_column_that_is_not_sure_is_not_clean(imports: Any) -> None:
    word = imports.catalog.word()
    content = f"ID,Title,Type\n{word}-1,Doors,odd\n{word}-2,Cabin,strange\n"
    assert not (await send(imports, content))["summary"]["clean"]
    seen = ok(await imports.catalog.request("POST", "/imports/inspect", content=content, headers=CSV))
    ok(await imports.catalog.post("/imports/mappings", {"name": word, "mapping": seen["record_mapping"]}), 201)
    assert "unsure_column" not in {
        one["code"] for one in (await send(imports, content, mapping=word))["summary"]["warnings"]
    }

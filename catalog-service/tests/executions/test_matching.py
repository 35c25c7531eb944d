"""Which test case a test counts for: named, remembered, by its automation id, unknown, by a person, after a merge."""

import asyncio
from typing import Any

import orjson
import pytest

from catalog_service.executions.incoming import NAMED_TEST_CASES
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from .conftest import Results, junit

ADMIN = Identity(id=3, email="admin@example.test", role=Role.ADMIN)


async def _test_of(results: Results, name: str, **options: Any) -> Json:
    found = (await results.catalog.read("/automated-tests", search=name, **options))["items"]
    assert len(found) == 1, found
    test: Json = found[0]
    return test


def _naming(name: str, key: str) -> bytes:
    properties = f'<properties><property name="test_key" value="{key}"/></properties>'
    return f'<testsuite><testcase classname="t" name="{name}">{properties}</testcase></testsuite>'.encode()


async def test_a_test_that_was_named_once_is_remembered(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    name = results.catalog.word()
    sent = ok(await results.post(_naming(name, test_case["external_id"])))
    assert (sent["matched"], (await _test_of(results, name))["matched_by"]) == (1, "named")
    again = ok(await results.post(junit((name, "failed"), class_name="t")))
    assert again["matched"] == 1
    assert (await results.verdict(requirement))["verdict"] == "failed"


async def test_a_result_counts_for_each_test_case_that_a_property_or_a_tag_names(results: Results) -> None:
    _, (by_property, by_tag, by_name) = await results.traced(3)
    name = results.catalog.word()
    tags = [by_tag["external_id"], f"test_case:{by_property['external_id']}", "slow2"]
    test = {"name": name, "status": "passed", "duration": 1, "tags": tags}
    report: Json = {"results": {"tool": {"name": "x"}, "summary": {}, "tests": [test]}}
    headers = {"content-type": "application/json"}
    ok(await results.post(orjson.dumps(report), headers))
    named = {case["id"] for case in (await _test_of(results, name))["test_cases"]}
    assert named == {by_property["id"], by_tag["id"]}
    other = results.catalog.word()
    test |= {"name": f"{other} [{by_name['external_id']}]", "tags": tags[:1]}
    ok(await results.post(orjson.dumps(report), headers))
    named = {case["id"] for case in (await _test_of(results, other))["test_cases"]}
    assert named == {by_name["id"], by_tag["id"]}


async def test_what_a_test_names_is_looked_up(results: Results) -> None:
    """Instead of comparing each word with all test cases of the project, which a join on either way would."""
    database = results.catalog.database
    async with database.transaction() as connection, connection.transaction(force_rollback=True):
        # How PostgreSQL finds something in a table of a few rows is left to chance.
        await connection.execute(
            "INSERT INTO test_cases (id, external_id, title, description, type, priority, status, automation_status,"
            " created_at, updated_at)"
            " SELECT gen_random_uuid(), 'LOOKED-UP-' || n, 'Doors', 'They close.', 'ui', 'low', 'ready', 'manual',"
            " now(), now()"
            " FROM generate_series(1, 5000) AS n"
        )
        await connection.execute("ANALYZE test_cases")
        asked = f"SELECT FROM unnest(ARRAY['T-1']) AS word CROSS JOIN LATERAL ({NAMED_TEST_CASES}) AS t"
        cursor = await connection.execute(f"EXPLAIN {asked}")
        plan = "\n".join(row["QUERY PLAN"] for row in await cursor.fetchall())
    conditions = [line for line in plan.splitlines() if "Index Cond:" in line]
    assert any("(external_id)::text = word" in condition for condition in conditions), plan
    assert any("(id = CASE" in condition for condition in conditions), plan
    assert "Join Filter" not in plan


async def test_an_id_that_nothing_has_is_a_warning(results: Results) -> None:
    sent = ok(await results.post(_naming(results.catalog.word(), "NO-SUCH")))
    assert [warning["code"] for warning in sent["warnings"]] == ["unknown_test_case", "unknown_test"]
    assert sent["warnings"][0]["ids"] == ["NO-SUCH"]


async def test_the_newest_run_says_which_test_case_it_is(results: Results) -> None:
    _, (old, new) = await results.traced(2)
    name = results.catalog.word()
    newer = {"started_at": "2026-11-20T12:00:00Z"}
    older = {"started_at": "2026-11-19T12:00:00Z"}
    for options, case in ((newer, new), (older, old)):
        ok(await results.post(_naming(name, case["external_id"]), **options))
    assert (await _test_of(results, name))["test_case_id"] == new["id"]
    assert (await results.catalog.read(f"/test-cases/{new['id']}/results"))["total"] == 2


async def test_an_automation_id_is_enough_unless_several_test_cases_have_it(results: Results) -> None:
    name = results.catalog.word()
    metadata = {"automation_id": f"tests.Doors.{name}"}
    await results.catalog.test_case(custom_metadata=metadata)
    assert (await results.send((name, "passed")))["matched"] == 1
    name = results.catalog.word()
    for _ in range(2):
        await results.catalog.test_case(custom_metadata={"automation_id": f"tests.Doors.{name}"})
    sent = await results.send((name, "passed"))
    assert (sent["matched"], sent["ambiguous"]) == (0, 1)


async def test_unknown_tests_become_test_cases_once(results: Results) -> None:
    name = results.catalog.word()
    first = await results.send((name, "passed"), ("x" * 200 + name, "passed"), unknown="create")
    assert (first["created"], first["unknown"], first["matched"]) == (2, 0, 2)
    again = await results.send((name, "failed"), unknown="create")
    assert (again["created"], again["matched"]) == (0, 1)
    found = (await results.catalog.read("/test-cases", external_id=f"tests.Doors.{name}"))["items"]
    assert [(one["title"], one["automation_status"]) for one in found] == [(name, "automated")]


async def test_tests_without_a_class_become_test_cases_of_their_suites(results: Results) -> None:
    name = results.catalog.word()
    tests = [{"name": name, "suite": suite, "status": "passed", "duration": 1} for suite in ("admin", "user")]
    same_place = {**tests[0], "filePath": "other.rb"}
    report = orjson.dumps({"results": {"tool": {"name": "x"}, "summary": {}, "tests": [*tests, same_place]}})
    sent = ok(await results.post(report, {"content-type": "application/json"}, unknown="create"))
    assert (sent["tests"], sent["created"], sent["unknown"], sent["matched"]) == (3, 2, 0, 3)
    found = (await results.catalog.read("/test-cases", search=name, sort="external_id"))["items"]
    assert sorted(one["external_id"] for one in found) == [f"admin.{name}", f"user.{name}"]
    listed = (await results.catalog.read("/automated-tests", search=name))["items"]
    counted_for = sorted(one["test_cases"][0]["external_id"] for one in listed)
    assert counted_for == [f"admin.{name}", f"admin.{name}", f"user.{name}"]


async def test_unknown_tests_are_left_out_or_refused_as_asked(results: Results) -> None:
    name = results.catalog.word()
    ignored = await results.send((name, "passed"), unknown="ignore")
    assert ignored["run"]["counts"]["tests"] == 0
    refused = problem(await results.post(junit((name, "passed")), unknown="fail"), 422, "unknown_test")
    assert refused["tests"] == [f"tests.Doors.{name}"]
    assert (await results.catalog.read("/automated-tests", search=name))["total"] == 0


async def test_requirements_that_results_name_are_linked(results: Results) -> None:
    requirement = await results.catalog.requirement(external_id=results.catalog.word())
    test_case = await results.catalog.test_case(external_id=results.catalog.word())
    properties = "".join(
        f'<property name="{name}" value="{value}"/>'
        for name, value in (
            ("test_id", test_case["external_id"]),
            ("verifies", f"{requirement['external_id']},NO-SUCH"),
        )
    )
    report = f"<testsuite><testcase name='a'><properties>{properties}</properties></testcase></testsuite>".encode()
    sent = ok(await results.post(report, link=True))
    assert sent["links_created"] == 1
    assert [(one["code"], one["ids"]) for one in sent["warnings"]] == [("unknown_requirement", ["NO-SUCH"])]
    (link,) = (await results.catalog.read("/links", test_case_id=test_case["id"]))["items"]
    assert (link["link_type"], link["link_source"]) == ("verifies", "imported")
    assert (await results.verdict(requirement))["verdict"] == "passed"
    assert ok(await results.post(report, link=True))["links_created"] == 0


def _about(name: str, **properties: str) -> bytes:
    """Return a report of one test with properties."""
    inside = "".join(f'<property name="{key}" value="{value}"/>' for key, value in properties.items())
    return f"<testsuite><testcase name='{name}'><properties>{inside}</properties></testcase></testsuite>".encode()


async def test_a_requirement_that_a_result_names_is_never_left_in_silence(results: Results) -> None:
    requirement = await results.catalog.requirement(external_id=results.catalog.word())
    test_case = await results.catalog.test_case(external_id=results.catalog.word())
    key, name = requirement["external_id"], results.catalog.word()
    for of in ({}, {"test_case": test_case["external_id"]}):
        sent = ok(await results.post(_about(results.catalog.word(), requirement=f"{key} NO-SUCH", **of)))
        told = {one["code"]: one for one in sent["warnings"]}
        assert told["unknown_requirement"]["ids"] == ["NO-SUCH"]
        assert told["requirements_not_linked"]["ids"] == [key]
        assert "link=true" in told["requirements_not_linked"]["message"]
    made = ok(await results.post(_about(name, requirement=key), unknown="create"))
    assert (made["created"], made["links_created"], made["warnings"]) == (1, 1, [])
    assert (await results.verdict(requirement))["verdict"] == "passed"
    again = ok(await results.post(_about(name, requirement=key)))
    assert again["warnings"] == [], "it is linked"


async def test_a_test_case_may_be_named_in_brackets_by_a_tag_or_in_other_letters(results: Results) -> None:
    word = results.catalog.word().upper()
    test_case = await results.catalog.test_case(external_id=f"TC-{word}")
    for said in (f"@TC-{word}", f"[TC-{word}]", f"tc-{word.lower()}", f"[@Tc-{word}]"):
        sent = ok(await results.post(_about(results.catalog.word(), test_case=said)))
        assert (sent["matched"], sent["warnings"]) == (1, []), said
    other = await results.catalog.test_case(external_id=f"tc-{word}")
    for said, matched in ((f"tc-{word}", 1), (f"Tc-{word}", 0)):
        sent = ok(await results.post(_about(results.catalog.word(), test_case=said)))
        assert sent["matched"] == matched, "of two that are alike only what is written out names one"
    assert other["id"] != test_case["id"]


async def test_a_person_says_which_test_case_it_is(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    name = results.catalog.word()
    await results.send((name, "failed"))
    test = await _test_of(results, name, linked=False)
    patched = ok(await results.catalog.patch(f"/automated-tests/{test['id']}", {"test_case_id": test_case["id"]}))
    assert patched["matched_by"] == "person"
    assert (await results.verdict(requirement))["verdict"] == "failed"
    ok(await results.catalog.patch(f"/automated-tests/{test['id']}", {"test_case_id": None}))
    assert (await results.verdict(requirement))["verdict"] == "not_run"


async def test_a_renamed_test_is_suspected_and_merged(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    word = results.catalog.word()
    old, new = f"{word} opens door", f"{word} opens doors"
    options = {"branch": word}
    ok(await results.post(_naming(old, test_case["external_id"]), **options))
    for number in range(3):
        await results.post(junit((new, "passed"), (f"{number}", "passed"), class_name="t"), **options)
    # What names its test case needs nobody to say what it was called before.
    _, (other,) = await results.traced()
    ok(await results.post(_naming(f"{new} wide", other["external_id"]), **options))
    renamed = await _test_of(results, word, suspected_rename=True)
    (former,) = [
        one for one in (await results.catalog.read("/automated-tests", search=old))["items"] if one["name"] == old
    ]
    assert (renamed["name"], renamed["suspected_rename"]) == (new, former["id"])
    merged = ok(await results.catalog.post(f"/automated-tests/{former['id']}/merge", {"into": renamed["id"]}))
    assert merged["test_case_id"] == test_case["id"]
    assert (await results.verdict(requirement, branch=word))["total"] == 4
    ok(await results.post(_naming(old, test_case["external_id"]), run=f"{word} again", **options))
    assert (await results.verdict(requirement, branch=word))["total"] == 5


async def test_a_test_ran_last_when_its_last_run_did_without_being_written_each_time(results: Results) -> None:
    name = results.catalog.word()
    stored = "SELECT ctid::text AS row FROM automated_tests WHERE name = %s"
    kept = set()
    for at in ("2026-11-19T09:00:00Z", "2026-11-19T15:00:00Z", "2026-11-20T08:00:00Z"):
        await results.send((name, "passed"), started_at=at)
        assert (await _test_of(results, name))["last_seen"] == at
        kept.add((await results.catalog.rows(stored, name))[0]["row"])
    assert len(kept) == 1
    await results.send((name, "passed"), started_at="2026-11-20T09:00:00Z")
    await results.send((name, "passed"), started_at="2026-11-18T09:00:00Z")
    test = await _test_of(results, name)
    assert (test["first_seen"], test["last_seen"]) == ("2026-11-18T09:00:00Z", "2026-11-20T09:00:00Z")
    assert (await results.catalog.rows(stored, name))[0]["row"] not in kept


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
async def test_a_moved_test_is_where_its_last_run_had_it(results: Results, order: tuple[int, ...]) -> None:
    name = results.catalog.word()
    for number in order:
        report = f'<testsuite name="s{2 - number}"><testcase classname="t" name="{name}"/></testsuite>'
        ok(await results.post(report.encode(), started_at=f"2026-11-19T{10 + number}:00:00Z"))
    assert (await _test_of(results, name))["suite"] == "s0"


async def test_a_test_that_still_runs_has_no_new_name(results: Results) -> None:
    word = results.catalog.word()
    options = {"branch": word}
    await results.send((f"{word} opens door", "passed"), **options)
    for _ in range(4):
        await results.send((f"{word} opens doors", "passed"), (f"{word} opens door", "passed"), **options)
    renamed = await results.catalog.read("/automated-tests", search=word, suspected_rename=True)
    assert renamed["items"] == []


async def test_a_test_is_merged_while_a_file_of_its_run_is_stored(results: Results) -> None:
    catalog, word = results.catalog, results.catalog.word()
    sent = await results.send((f"{word} old", "passed"), (f"{word} new", "passed"))
    old, new = [(await _test_of(results, f"{word} {name}"))["id"] for name in ("old", "new")]
    async with catalog.database.transaction() as connection:
        await connection.execute("SELECT FROM test_runs WHERE id = %s FOR UPDATE", (sent["run"]["id"],))
        merging = asyncio.create_task(catalog.post(f"/automated-tests/{old}/merge", {"into": new}))
        for _ in range(1000):
            if await catalog.rows("SELECT FROM pg_locks WHERE NOT granted"):
                break
            await asyncio.sleep(0.01)
        else:
            pytest.fail("the merge did not wait for the run")
        await connection.execute("UPDATE automated_tests SET last_seen = last_seen WHERE id = %s", (old,))
    ok(await merging)


async def test_a_deleted_run_counts_no_more(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    await results.send((f"[{test_case['external_id']}]", "passed"))
    failed = await results.send((f"[{test_case['external_id']}]", "failed"))
    assert (await results.verdict(requirement))["verdict"] == "failed"
    admin = results.catalog.being(ADMIN)
    assert (await admin.delete(f"/test-runs/{failed['run']['id']}")).status_code == 204
    found = await results.verdict(requirement)
    assert (found["verdict"], found["total"]) == ("passed", 1)


async def test_an_execution_by_hand_counts_as_one_of_ci(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    path = f"/test-cases/{test_case['id']}/results"
    execution = ok(await results.catalog.post(path, {"status": "failed", "notes": "The left door stays open."}), 201)
    assert (execution["status"], execution["message"]) == ("failed", "The left door stays open.")
    assert execution["run"]["recorded_by"] == results.catalog.email
    found = await results.verdict(requirement)
    assert (found["verdict"], found["items"]) == ("failed", [execution])
    assert (await results.catalog.read("/automated-tests", test_case_id=test_case["id"]))["total"] == 0


async def test_the_run_of_an_execution_by_hand_is_called_by_its_test_case(results: Results) -> None:
    _, (test_case,) = await results.traced()
    untold = await results.catalog.test_case(title="T" * 300)
    for executed, name in ((test_case, test_case["external_id"]), (untold, "T" * 191)):
        made = await results.catalog.post(f"/test-cases/{executed['id']}/results", {"status": "passed"})
        run = await results.catalog.read(f"/test-runs/{ok(made, 201)['run']['id']}")
        assert run["name"] == f"By hand: {name}"


async def test_a_deleted_test_case_is_not_remembered(results: Results) -> None:
    _, (test_case,) = await results.traced()
    name = results.catalog.word()
    ok(await results.post(_naming(name, test_case["external_id"])))
    assert (await results.catalog.delete(f"/test-cases/{test_case['id']}")).status_code == 204
    sent = ok(await results.post(junit((name, "passed"), class_name="t")))
    assert (sent["matched"], sent["unknown"]) == (0, 1)


async def test_a_merge_takes_no_test_from_its_test_case(results: Results) -> None:
    _, (failing, other) = await results.traced(2)
    ids = []
    for case, end in ((failing, "failed"), (other, "passed")):
        name = f"[{case['external_id']}]"
        await results.send((name, end))
        ids.append((await _test_of(results, name))["id"])
    refused = problem(
        await results.catalog.post(f"/automated-tests/{ids[0]}/merge", {"into": ids[1]}), 409, "different_test_cases"
    )
    assert failing["external_id"] in refused["detail"]
    ok(await results.catalog.patch(f"/automated-tests/{ids[0]}", {"test_case_id": other["id"]}))
    ok(await results.catalog.post(f"/automated-tests/{ids[0]}/merge", {"into": ids[1]}))

"""Tests that are stored by names of an older form are the tests of today, with all that they have done."""

import asyncio
import io
import json
import zipfile
from typing import Any

from catalog_service.executions.names import fingerprints
from testing.service import ok

from .conftest import Results, Traced, junit


async def _rename_as_before(results: Results, names: dict[tuple[str, str], tuple[str, str]]) -> None:
    """Give tests the names, by class and name, that a version before would have stored."""
    async with results.catalog.database.transaction() as connection:
        await connection.execute("DELETE FROM forms_of_names")
        for (class_name, name), (old_class, old_name) in names.items():
            renamed = await connection.execute(
                "UPDATE automated_tests SET class_name = %s, name = %s, fingerprint = sha256(convert_to(%s, 'UTF8'))"
                " WHERE class_name = %s AND name = %s",
                (old_class, old_name, f"{old_class} {old_name}", class_name, name),
            )
            assert renamed.rowcount == 1


async def _counted(results: Results, class_name: str) -> dict[str, int]:
    """Return the names of the tests of a class, each with the number of its executions."""
    async with results.catalog.database.transaction() as connection:
        cursor = await connection.execute(
            "SELECT t.name, count(e.*) AS times FROM automated_tests t LEFT JOIN executions e ON e.test_id = t.id"
            " WHERE t.class_name = %s AND t.merged_into IS NULL GROUP BY t.id",
            (class_name,),
        )
        return {row["name"]: row["times"] for row in await cursor.fetchall()}


async def test_a_test_goes_on_under_its_normal_name(traced: Traced) -> None:
    of, results = f"shop.{traced.branch}", traced.results

    async def send(name: str, end: str, commit: str) -> Any:
        where = {"lane": "ci", "branch": traced.branch, "commit": traced.commit(commit)}
        return ok(await results.post(junit((name, end), class_name=of), **where))

    await send(f"[{traced.key}] first", "passed", "c1")
    await send(f"[{traced.key}] second", "failed", "c1")
    old = (of, f"[1:7] [{traced.key}] first"), (of, f"[1:9] [{traced.key}] first")
    await _rename_as_before(results, {(of, f"[{traced.key}] first"): old[0], (of, f"[{traced.key}] second"): old[1]})
    assert await traced.verdict() == "failed"
    await send(f"[1:12] [{traced.key}] first", "passed", "c2")
    assert await _counted(results, of) == {f"[{traced.key}] first": 3}
    assert await traced.verdict() == "passed", "the line that failed is the test that passes now"
    assert [test["missing"] for test in (await traced.standing())["tests"]] == [False]


async def test_names_are_brought_up_once(results: Results) -> None:
    of = f"shop.{results.catalog.word()}"
    content = junit(("list", "passed"), class_name=of)
    ok(await results.post(content))
    await _rename_as_before(results, {(of, "list"): (of, "[1:7] list")})
    ok(await results.post(content, dry_run=True))
    assert await _counted(results, of) == {"[1:7] list": 1}, "a trial changes nothing"
    ok(await results.post(content))
    assert await _counted(results, of) == {"list": 2}
    async with results.catalog.database.transaction() as connection:
        await connection.execute("UPDATE automated_tests SET name = '[1:8] list' WHERE class_name = %s", (of,))
    ok(await results.post(content))
    assert await _counted(results, of) == {"[1:8] list": 3}, "what has the form is not looked at again"


async def test_what_a_person_merged_leads_to_the_same_test_still(results: Results) -> None:
    catalog, of = results.catalog, f"shop.{results.catalog.word()}"
    ok(await results.post(junit(("old", "passed"), ("new", "passed"), class_name=of)))
    ids = {}
    for name in ("old", "new"):
        (ids[name],) = [
            one["id"] for one in (await catalog.read("/automated-tests", search=of))["items"] if one["name"] == name
        ]
    ok(await catalog.post(f"/automated-tests/{ids['old']}/merge", {"into": ids["new"]}))
    await _rename_as_before(results, {(of, "old"): (of, "[1:7] old")})
    ok(await results.post(junit(("old", "failed"), class_name=of)))
    assert await _counted(results, of) == {"new": 2}


async def test_uploads_at_once_bring_names_up_together(results: Results) -> None:
    of = f"shop.{results.catalog.word()}"
    names = [f"test {number}" for number in range(8)]
    ok(await results.post(junit(*((name, "passed") for name in names), class_name=of)))
    await _rename_as_before(results, {(of, name): (of, f"[{number}:99] {name}") for number, name in enumerate(names)})
    sent = await asyncio.gather(*(results.post(junit((name, "passed"), class_name=of)) for name in names))
    assert [one.status_code for one in sent] == [200] * 8
    assert await _counted(results, of) == dict.fromkeys(names, 2)


async def test_several_former_names_in_one_run_are_put_together(results: Results) -> None:
    of = f"shop.{results.catalog.word()}"
    ends = {"a": "passed", "b": "failed", "c": "skipped"}
    sent = ok(await results.post(junit(*ends.items(), class_name=of)))
    await _rename_as_before(results, {(of, name): (of, f"[1:{line + 5}] order") for line, name in enumerate(ends)})
    ok(await results.post(junit(("order", "passed"), class_name=of)))
    assert await _counted(results, of) == {"order": 2}
    run = await results.catalog.read(f"/test-runs/{sent['run']['id']}")
    assert run["counts"] == {"tests": 1, "passed": 0, "failed": 1, "flaky": 0, "skipped": 0}


def _allure(**result: Any) -> bytes:
    whole = {"uuid": "u", "historyId": "h", "status": "passed", "stage": "finished", "testCaseId": "t", **result}
    return json.dumps(whole).encode()


def _zipped(*found: dict[str, Any]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, one in enumerate(found):
            archive.writestr(f"{number}-result.json", _allure(**one))
    return packed.getvalue()


def _ctrf(file: str, name: str) -> bytes:
    test = {"name": name, "suite": ["a.test.js", "cart"], "filePath": file, "status": "passed"}
    found = {"tool": {"name": "jest"}, "summary": {"tests": 1}, "tests": [test]}
    return json.dumps({"reportFormat": "CTRF", "results": found}).encode()


async def test_a_test_goes_on_by_what_its_report_alone_can_tell(results: Results) -> None:
    word = results.catalog.word()
    title, python = f"Tax 19 % {word}", {"labels": [{"name": "package", "value": f"shop.{word}"}]}
    titled = _allure(name=title, fullName=f"shop.{word}#test_tax", **python)
    behave = {"keyword": "Feature", "name": word, "location": "features/shop.feature:1", "elements": []}
    behave["elements"] = [{"type": "scenario", "keyword": "Scenario", "name": "Lock", "status": "passed", "steps": []}]
    jest = _ctrf(f"/srv/{word}/shop/test/a.test.js", f"cart locks {word}")
    mocha = f'<testsuite name="M"><testcase classname="cart {word}" name="locks" file="test/{word}.js"/></testsuite>'
    former = {
        (f"shop.{word}", "test_tax"): (f"shop.{word}", title, "", "", titled),
        (f"shop.{word}", "Lock"): (word, "Lock", "", "features/shop.feature", json.dumps([behave]).encode()),
        ("test/a.test.js", f"cart locks {word}"): (
            *("", f"cart locks {word}", "a.test.js > cart", f"/srv/{word}/shop/test/a.test.js", jest),
        ),
        (f"test/{word}.js", f"cart {word} locks"): (f"cart {word}", "locks", "M", f"test/{word}.js", mocha.encode()),
    }
    for (class_name, name), (old_class, old_name, suite, file, content) in former.items():
        ok(await results.post(content))
        assert (await _counted(results, class_name))[name] == 1
        hashed = fingerprints(old_class, suite, file)
        hashed.update(old_name.encode())
        async with results.catalog.database.transaction() as connection:
            await connection.execute(
                "UPDATE automated_tests SET fingerprint = %s, class_name = %s, name = %s, suite = %s, file = %s"
                " WHERE class_name = %s AND name = %s",
                (hashed.digest(), old_class, old_name, suite, file, class_name, name),
            )
        ok(await results.post(content))
        assert (await _counted(results, class_name))[name] == 2, (class_name, name)
        ok(await results.post(content))
        assert (await _counted(results, class_name))[name] == 3


async def test_a_test_keeps_its_name_when_another_had_it_as_a_title(results: Results) -> None:
    word = results.catalog.word()
    of = {"labels": [{"name": "package", "value": f"shop.{word}"}, {"name": "suite", "value": word}]}
    plain = {**of, "name": "Tax", "fullName": f"shop.{word}#Tax", "historyId": "p", "testCaseId": "p"}
    titled = {**of, "name": "Tax", "fullName": f"shop.{word}#test_rate", "historyId": "t", "testCaseId": "t"}
    ok(await results.post(_zipped(plain)))
    ok(await results.post(_zipped(plain, titled)))
    assert await _counted(results, f"shop.{word}") == {"Tax": 2, "test_rate": 1}


async def test_another_workspace_has_the_same_tests(results: Results) -> None:
    word = results.catalog.word()
    for root in (f"/builds/{word}/shop", f"/home/runner/work/{word}/shop", "D:\\a\\1\\s"):
        ok(await results.post(_ctrf(f"{root}/test/{word}/a.test.js", "cart locks")))
    assert await _counted(results, f"test/{word}/a.test.js") == {"cart locks": 3}
    ok(await results.post(_ctrf(f"/srv/1/{word}/a.test.js", "cart locks"), workspace="/srv/1"))
    ok(await results.post(_ctrf(f"C:\\shop\\{word}\\a.test.js", "cart locks"), workspace="C:\\shop"))
    assert await _counted(results, f"{word}/a.test.js") == {"cart locks": 2}


async def test_what_may_be_several_tests_keeps_its_names(results: Results) -> None:
    of = f"shop.{results.catalog.word()}"
    ok(await results.post(junit(("a", "passed"), ("b", "passed"), class_name=of)))
    await _rename_as_before(results, {(of, "a"): (of, "[3:40] plays"), (of, "b"): (of, "[9:60] plays")})
    ok(await results.post(junit(("[3:40] plays", "passed"), ("[9:60] plays", "passed"), class_name=of)))
    counted = await _counted(results, of)
    assert (counted["[3:40] plays"], counted["plays"]) == (1, 1), "nobody knows whether these are one"


async def test_former_names_of_several_test_cases_count_for_all_of_them(results: Results) -> None:
    _, cases = await results.traced(2)
    of = f"shop.{results.catalog.word()}"
    named = [(f"[{case['external_id']}] {end}", end) for case, end in zip(cases, ("passed", "failed"), strict=True)]
    ok(await results.post(junit(*named, class_name=of)))
    await _rename_as_before(
        results, {(of, name): (of, f"[1:{line}] order") for line, (name, _) in enumerate(named, start=5)}
    )
    ok(await results.post(junit(("order", "passed"), class_name=of)))
    for case in cases:
        (test,) = (await results.catalog.read(f"/test-cases/{case['id']}/results", limit=1))["tests"]
        assert test["name"] == "order"

"""GET and POST /reports/gate: rules held against the record."""

import csv
import io
import re
import struct
from itertools import pairwise
from typing import Any

import openpyxl
import pytest
from lxml import etree
from psycopg.types.json import Json as Jsonb

from catalog_service.verdicts import COUNTED
from chassis.core.identity import Identity, Role
from testing.service import Json, ok, problem

from .conftest import Results

ADMIN = Identity(id=3, email="admin@example.test", role=Role.ADMIN)


async def _module(results: Results) -> str:
    """A module with five requirements: passed, failed, uncovered, not run, suspect and stale."""
    catalog, module = results.catalog, results.catalog.word()
    found: list[tuple[Json, Json]] = []
    for _ in range(4):
        requirement = await catalog.requirement(module=module, external_id=f"R{catalog.word()}", priority="high")
        test_case = await catalog.test_case(external_id=f"T{catalog.word()}")
        await catalog.link(requirement, test_case)
        found.append((requirement, test_case))
    await catalog.requirement(module=module, priority="low")
    (_, passed), (_, failed), _, (stale, passed_before) = found
    ends = {passed["external_id"]: "passed", failed["external_id"]: "failed", passed_before["external_id"]: "passed"}
    await results.send(*((f"[{name}]", end) for name, end in ends.items()), commit=module)
    ok(await catalog.patch(f"/requirements/{stale['id']}", {"description": "Another text."}))
    return str(module)


def _rule(gate: Json, name: str) -> Json:
    (rule,) = [rule for rule in gate["rules"] if rule["rule"] == name]
    return rule


async def test_each_rule_tells_what_it_found(results: Results) -> None:
    module = await _module(results)
    gate = await results.catalog.read(
        "/reports/gate",
        module=module,
        commit=module,
        min_coverage=80,
        min_verified=20.1,
        max_uncovered=1,
        max_failed=0,
        max_not_run=0,
        max_stale=0,
        max_suspect=0,
        require_run=True,
        min_tests=4,
        max_run_age_hours=1,
        no_new_failures=True,
    )
    actual = {rule["rule"]: (rule["actual"], rule["passed"]) for rule in gate["rules"]}
    assert actual.pop("max_run_age_hours")[1] is True
    assert actual == {
        "min_coverage": (80.0, True),
        "min_verified": (20.0, False),
        "max_uncovered": (1, True),
        "max_failed": (1, False),
        "max_not_run": (1, False),
        "max_stale": (1, False),
        "max_suspect": (1, False),
        "require_run": (True, True),
        "min_tests": (3, False),
        "no_new_failures": (1, False),
    }
    assert not gate["passed"]
    assert _rule(gate, "max_failed")["items"][0]["verdict"] == "failed"
    for name, because in {"max_failed": "failed", "max_not_run": "not run", "max_stale": "stale"}.items():
        (item,) = _rule(gate, name)["items"]
        (test_case,) = (await results.verdict(item, branch="main", commit=module))["test_cases"]
        of = f"{item['external_id']}: {item['title']} ({because}: {test_case['external_id']})"
        assert item["reason"] == of
    assert _rule(gate, "max_uncovered")["items"][0]["reason"].endswith(" (no test case)")
    assert "went from version 1 to 2 (description)" in _rule(gate, "max_suspect")["reason"]
    assert [run["status"] for run in gate["runs"]] == ["completed"]


async def test_what_a_rule_names_can_be_read_where_it_says(results: Results) -> None:
    module = await _module(results)
    await results.send((results.catalog.word(), "passed"), run=module, branch="main")
    rules = {"max_uncovered": 0, "max_suspect": 0, "max_unlinked_tests": 0, "require_run": True}
    running = {"run": results.catalog.word(), "commit": results.catalog.word()}
    await results.send((results.catalog.word(), "passed"), shard="1/2", **running)
    gate = await results.catalog.read("/reports/gate", commit=running["commit"], **rules)
    for name in rules:
        item = _rule(gate, name)["items"][0]
        read = await results.catalog.read(item["url"].removeprefix("/api/v1"))
        assert item["id"] in [one["id"] for one in read.get("items", [read])], name


async def test_of_the_test_cases_of_a_verdict_the_first_are_named(results: Results) -> None:
    requirement, test_cases = await results.traced(5)
    other = await results.catalog.test_case(external_id="A passed")
    await results.catalog.link(requirement, other)
    module = results.catalog.word()
    ok(await results.catalog.patch(f"/requirements/{requirement['id']}", {"module": module}))
    names = sorted(one["external_id"] for one in test_cases)
    await results.send(*((f"[{name}]", "failed") for name in names), ("[A passed]", "passed"))
    gate = await results.catalog.read("/reports/gate", module=module, max_failed=0)
    (item,) = _rule(gate, "max_failed")["items"]
    assert item["reason"].endswith(f" (failed: {', '.join(names[:3])} and 2 more)")


async def test_a_policy_has_rules_about_parts_of_the_record(results: Results) -> None:
    module = await _module(results)
    of_low = {"module": module, "priority": ["low"]}
    rules = [{"rule": "max_failed", "limit": 0, "where": where} for where in (of_low, {"module": module})]
    gate = ok(await results.catalog.post("/reports/gate", {"rules": rules}))
    assert [rule["passed"] for rule in gate["rules"]] == [True, False]
    assert gate["rules"][0]["where"] == {"module": module, "priority": "low"}
    misspelt = {"rule": "max_failed", "limit": 0, "where": {"module": module[:-1]}}
    gate = ok(await results.catalog.post("/reports/gate", {"rules": [misspelt, rules[0]]}))
    assert _rule(gate, "empty_scope")["where"] == misspelt["where"]
    assert [rule["rule"] for rule in gate["rules"] if rule["reason"].startswith("No requirement")] == ["empty_scope"]
    assert not gate["passed"]


async def test_a_policy_from_before_its_parts_had_bounds_is_read_judged_and_replaced(results: Results) -> None:
    catalog, module = results.catalog, await _module(results)
    admin = catalog.being(ADMIN)
    path, rule = f"/reports/gate/policies/{catalog.word()}", {"rule": "max_failed", "limit": 0}
    kept = ok(await admin.put(path, {"rules": [rule]}), 201)
    others = [f"{number} {'x' * 600}" for number in range(90)]
    wheres = [{"module": [module, *others]}, {"module": ",".join([module, *others])}]
    rules = [{**rule, "where": where} for where in wheres]
    assert (await admin.put(path, {"rules": rules})).status_code == 422
    async with catalog.database.transaction() as connection:
        await connection.execute("UPDATE gate_policies SET rules = %s WHERE id = %s", (Jsonb(rules), kept["id"]))
    assert (await catalog.read(path))["rules"] == rules
    judged = await catalog.read("/reports/gate", policy=kept["name"])
    assert [one["actual"] for one in judged["rules"]] == [1, 1]
    assert [one["where"] for one in ok(await admin.put(path, {"rules": [rule]}))["rules"]] == [{}]


@pytest.mark.parametrize("limit", [False, 0, 2, 50])
async def test_a_rule_that_holds_or_does_not_takes_no_limit(results: Results, limit: Any) -> None:
    refused = await results.catalog.post("/reports/gate", {"rules": [{"rule": "require_run", "limit": limit}]})
    assert refused.status_code == 422
    assert "leave out the rule" in refused.text


async def test_a_gate_over_nothing_does_not_pass(results: Results) -> None:
    gate = await results.catalog.read("/reports/gate", module=results.catalog.word(), max_failed=0)
    assert (gate["passed"], gate["rules"][0]["rule"]) == (False, "empty_scope")


async def test_an_environment_that_nothing_ran_in_does_not_pass(results: Results) -> None:
    module = await _module(results)
    environment = results.catalog.word()
    gate = await results.catalog.read("/reports/gate", module=module, max_failed=10, environment=environment)
    assert (gate["passed"], gate["rules"][0]["rule"]) == (False, "empty_scope")
    assert environment in gate["rules"][0]["reason"]
    await results.send(("a", "passed"), environment=environment)
    gate = await results.catalog.read("/reports/gate", module=module, max_failed=10, environment=environment)
    assert gate["passed"]


async def test_a_gate_over_nothing_passes_no_more_for_a_rule_over_something(results: Results) -> None:
    module = await _module(results)
    nothing = {"rule": "max_failed", "limit": 0, "where": {"module": module, "priority": "critical"}}
    something = {"rule": "max_uncovered", "limit": 1, "where": {"module": module}}
    for rules in ([nothing], [nothing, something], [something, nothing, nothing]):
        gate = ok(await results.catalog.post("/reports/gate", {"rules": rules}))
        assert (gate["passed"], _rule(gate, "empty_scope")["where"]) == (False, nothing["where"])
    assert ok(await results.catalog.post("/reports/gate", {"rules": [something]}))["passed"]


async def test_tests_without_a_test_case_are_in_no_part_of_the_record(results: Results) -> None:
    module = await _module(results)
    await results.send((results.catalog.word(), "passed"))
    rule: Json = {"rule": "max_unlinked_tests", "limit": 0}
    for where in ({"module": module}, {"module": results.catalog.word()}):
        gate = ok(await results.catalog.post("/reports/gate", {"rules": [{**rule, "where": where}]}))
        (judged,) = gate["rules"]
        assert (judged["where"], judged["passed"]) == ({}, False)


async def test_without_rules_nothing_may_fail_or_be_missing_and_there_is_a_run(results: Results) -> None:
    await results.catalog.requirement()
    gate = await results.catalog.read("/reports/gate", commit=results.catalog.word())
    assert [rule["rule"] for rule in gate["rules"]] == ["require_run", "max_failed", "max_missing"]
    assert not _rule(gate, "require_run")["passed"]


async def test_an_unfinished_run_does_not_pass(results: Results) -> None:
    commit = results.catalog.word()
    sent = await results.send(("works", "passed"), run=commit, commit=commit)
    options: dict[str, Any] = {"commit": commit, "require_run": True}
    gate = await results.catalog.read("/reports/gate", **options)
    assert "has not ended yet" in _rule(gate, "require_run")["reason"]
    document = await results.catalog.get("/reports/gate", format="markdown", commit=commit, max_failed=10000)
    assert f"The run `{commit}` has not ended yet" in document.text
    ok(await results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
    assert _rule(await results.catalog.read("/reports/gate", **options), "require_run")["passed"]


async def test_a_large_limit_is_written_out(results: Results) -> None:
    await results.catalog.requirement()
    gate = await results.catalog.read("/reports/gate", max_pending_suggestions=12345678)
    assert _rule(gate, "max_pending_suggestions")["reason"].endswith("; the limit is 12345678.")


async def test_a_gate_tells_of_which_runs_it_waits_for(results: Results) -> None:
    commit = results.catalog.word()
    asked: dict[str, Any] = {"commit": commit, "require_run": True, "max_run_age_hours": 1}
    gate = await results.catalog.read("/reports/gate", **asked)
    assert _rule(gate, "max_run_age_hours")["reason"] == f"There is no finished run of the commit {commit}."
    for number in (1, 2):
        await results.send((f"works {number}", "passed"), run=f"{commit} {number}", commit=commit)
    gate = await results.catalog.read("/reports/gate", **asked)
    waits = _rule(gate, "require_run")
    assert waits["reason"] == f"2 runs of the commit {commit} have not ended yet, the newest is {commit} 2."
    assert (len(waits["items"]), waits["total"]) == (2, 2)


async def test_the_documents_say_the_same(results: Results) -> None:
    options = {"module": await _module(results), "max_failed": 0, "min_verified": 50, "max_stale": 1}
    gate = await results.catalog.read("/reports/gate", **options)
    markdown = (await results.catalog.get("/reports/gate", format="markdown", **options)).text
    for rule in gate["rules"]:
        line = next(line for line in markdown.splitlines() if f" {rule['rule']} (" in line)
        assert ("❌" in line) is not rule["passed"]
        figures = [float(figure) for figure in re.findall(r"\| (\d+(?:\.\d+)?) (?=\|)", line)]
        assert figures == [rule["limit"], rule["actual"]]
    junit = (await results.catalog.get("/reports/gate", format="junit", **options)).text
    assert junit.count("<testcase") == len(gate["rules"])
    assert junit.count("<failure") == sum(not rule["passed"] for rule in gate["rules"])


async def test_the_junit_report_of_a_gate_is_xml_whatever_items_are_called(results: Results) -> None:
    module = results.catalog.word()
    await results.catalog.requirement(module=module, title="a \x01 \ufffe \uffff <b> & ]]> \"c\" '\U0001f642'")
    junit = await results.catalog.get("/reports/gate", format="junit", module=module, max_uncovered=0)
    (failure,) = etree.fromstring(junit.content).iter("failure")
    assert "a \ufffd \ufffd \ufffd <b> & ]]> \"c\" '\U0001f642'" in failure.text


async def test_the_verification_report_counts_and_lists_verdicts(results: Results) -> None:
    module = await _module(results)
    report = await results.catalog.read("/reports/verification", module=module)
    summary = report["summary"]
    assert summary["requirements"] == {
        "uncovered": 1,
        "failed": 1,
        "flaky": 0,
        "partial": 0,
        "not_run": 1,
        "stale": 1,
        "passed": 1,
    }
    assert (summary["verified_requirements"], summary["verified"]) == (1, 0.2)
    assert summary["test_cases"] == {"not_run": 1, "skipped": 0, "failed": 1, "flaky": 0, "stale": 1, "passed": 1}
    assert len(report["items"]) == report["total"] == 5
    failed = await results.catalog.read("/reports/verification", module=module, verdict="failed")
    assert [row["verdict"] for row in failed["items"]] == ["failed"]
    assert failed["items"] == [row for row in report["items"] if row["verdict"] == "failed"]
    assert failed["summary"] == summary


async def test_the_documents_of_the_verification_report_have_each_requirement(results: Results) -> None:
    module = await _module(results)
    report = await results.catalog.read("/reports/verification", module=module)
    names = [row["external_id"] or row["id"] for row in report["items"]]
    texts = {
        name: await results.catalog.get("/reports/verification", module=module, format=name)
        for name in ("csv", "html", "markdown", "xlsx")
    }
    rows = list(csv.DictReader(io.StringIO(texts["csv"].text.removeprefix("\ufeff"))))
    assert [row["verdict"] for row in rows] == [row["verdict"] for row in report["items"]]
    assert [int(row["tests_linked"]) for row in rows] == [row["counts"]["tests_linked"] for row in report["items"]]
    for form in ("html", "markdown"):
        assert [name for name in names if name not in texts[form].text] == []
    table = [line.strip("| ").split(" | ")[3:] for line in texts["markdown"].text.splitlines() if line.count("|") == 12]
    found = [[verdict.replace(" ", "_"), *map(int, figures)] for verdict, *figures in table[2:]]
    assert sorted(found) == sorted(
        [row["verdict"], row["counts"]["tests_linked"], *(row["counts"][name] for name in COUNTED)]
        for row in report["items"]
    )
    first = [verdict for verdict, *_ in found if verdict in {"failed", "uncovered"}]
    assert [verdict for verdict, *_ in found][: len(first)] == sorted(first), "what fails, then what is uncovered"
    book = openpyxl.load_workbook(io.BytesIO(texts["xlsx"].content))
    assert book.sheetnames == ["Summary", "Verification", "Failing tests"]
    assert len(list(book["Verification"].iter_rows(min_row=2))) == len(names)


async def test_the_verification_report_names_each_failing_test(results: Results) -> None:
    requirement, (test_case, _) = await results.traced(2)
    module = results.catalog.word()
    await results.catalog.patch(f"/requirements/{requirement['id']}", {"module": module})
    name = f"[{test_case['external_id']}] closes"
    await results.send((name, "failed"), run="nightly 1", commit="c0ffee")
    texts = {
        form: (await results.catalog.get("/reports/verification", module=module, format=form)).text
        for form in ("csv", "html", "markdown")
    }
    said = f"tests.Doors {name} fails: no (run nightly 1, commit c0ffee, "
    assert said in texts["csv"]
    assert said in texts["html"]
    assert "fails: no (run nightly 1, commit c0ffee, " in texts["markdown"]
    book = await results.catalog.get("/reports/verification", module=module, format="xlsx")
    sheet = openpyxl.load_workbook(io.BytesIO(book.content))["Failing tests"]
    ((_, _, case, test, message, run, commit, *_),) = sheet.iter_rows(min_row=2, values_only=True)
    assert (case, test, message, run, commit) == (
        test_case["external_id"],
        f"tests.Doors {name}",
        "no",
        "nightly 1",
        "c0ffee",
    )


async def test_the_verification_report_has_the_gaps_alone_or_the_others(results: Results) -> None:
    module = await _module(results)
    every = (await results.catalog.read("/reports/verification", module=module))["items"]
    for rows, is_gap in (("gaps", True), ("covered", False)):
        found = (await results.catalog.read("/reports/verification", module=module, rows=rows))["items"]
        assert found == [row for row in every if (row["verdict"] == "uncovered") is is_gap]
    problem(await results.catalog.get("/reports/verification", rows="gaps", verdict="failed"), 422)


async def test_the_matrix_tells_results_where_it_is_asked_to(results: Results) -> None:
    module = await _module(results)
    matrix = await results.catalog.read("/reports/traceability-matrix", module=module)
    assert "verdict" not in matrix["items"][0]
    matrix = await results.catalog.read("/reports/traceability-matrix", module=module, results=True)
    report = await results.catalog.read("/reports/verification", module=module)
    assert [row["verdict"] for row in matrix["items"]] == [row["verdict"] for row in report["items"]]
    ends = sorted(str(case["last_result"]) for row in matrix["items"] for case in row["test_cases"])
    assert ends == ["None", "failed", "passed", "passed"]
    document = await results.catalog.get("/reports/traceability-matrix", module=module, results=True, format="csv")
    rows = list(csv.DictReader(io.StringIO(document.text.removeprefix("\ufeff"))))
    assert [row["verdict"] for row in rows if row["requirement_id"]] == [row["verdict"] for row in report["items"]]
    for form in ("html", "xlsx"):
        found = await results.catalog.get("/reports/traceability-matrix", module=module, results=True, format=form)
        assert found.status_code == 200
        assert form == "xlsx" or "Last result" in found.text


async def test_the_map_of_the_matrix_has_the_verdict_of_each_link(results: Results) -> None:
    module, catalog = await _module(results), results.catalog
    matrix = "/reports/traceability-matrix"
    axis = await catalog.read(f"{matrix}/axes", axis="row", module=module)
    expected = [
        [test_case["verdict"] for test_case in (await results.verdict(row))["test_cases"]] for row in axis["items"]
    ]
    assert sorted(map(str, expected)) == ["['failed']", "['not_run']", "['passed']", "['stale']", "[]"]

    found = await catalog.get(f"{matrix}/compact", module=module, results=True)

    _, rows, columns, cells = struct.unpack_from("<4s3I", found.content)
    assert (rows, columns, cells) == (5, 4, 4)
    offsets = struct.unpack_from(f"<{rows + 1}I", found.content, 16)
    words = ("", "passed", "stale", "flaky", "failed", "skipped", "not_run")
    states = [words[state] for state in found.content[-cells:]]
    assert [states[first:end] for first, end in pairwise(offsets)] == expected
    tag = found.headers["etag"]
    assert tag.startswith(axis["matrix"][:-1])
    again = {"params": {"module": module, "results": True}, "headers": {"if-none-match": tag}}
    assert (await catalog.request("GET", f"{matrix}/compact", **again)).status_code == 304

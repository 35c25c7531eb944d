"""POST /test-results: from a file to what it says of a requirement."""

import asyncio
import random
from typing import Any

import pytest

from catalog_service.executions.names import fingerprints
from chassis.db.rows import fetch_value
from testing.service import ok, problem

from .conftest import Results, junit


def named(test_case: Any) -> str:
    """Return the name of a test that names its test case."""
    return f"[{test_case['external_id']}] works"


async def test_a_file_becomes_a_run_and_a_verdict(results: Results) -> None:
    requirement, (first, second) = await results.traced(2)
    sent = await results.send((named(first), "passed"), ("other", "passed"), branch="main", commit="abc")
    assert (sent["tests"], sent["matched"], sent["unknown"], sent["duplicate"]) == (2, 1, 1, False)
    assert sent["counts"] == {"results": 2, "passed": 2, "failed": 0, "flaky": 0, "skipped": 0}
    assert sent["run"]["status"] == "completed"
    assert [warning["code"] for warning in sent["warnings"]] == ["unknown_test"]
    found = await results.verdict(requirement)
    assert (found["verdict"], found["verified"]) == ("partial", False)
    assert found["missing"] == [second["id"]]
    await results.send((named(second), "passed"))
    found = await results.verdict(requirement)
    assert (found["verdict"], found["verified"], found["total"]) == ("passed", True, 2)
    await results.send((named(first), "failed"))
    found = await results.verdict(requirement)
    assert (found["verdict"], found["counts"]["failed"]) == ("failed", 1)
    assert found["items"][0]["message"] == "no"


async def test_the_same_bytes_twice_in_a_run_are_one_upload(results: Results) -> None:
    _, (test_case,) = await results.traced()
    key = results.catalog.word()
    first = await results.send((named(test_case), "failed"), run=key)
    again = await results.send((named(test_case), "failed"), run=key)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert again["upload_id"] == first["upload_id"]
    assert again["run"]["counts"] == {"tests": 1, "passed": 0, "failed": 1, "flaky": 0, "skipped": 0}


async def test_a_run_ends_when_all_shards_of_each_of_its_jobs_have_come(results: Results) -> None:
    key, status = results.catalog.word(), {}
    for shard in ("3/3", "1/3", "2/2", "1/2", "2/3"):
        sent = await results.send((f"test of {shard}", "passed"), run=key, shard=shard)
        status[shard] = sent["run"]["status"]
    assert status == {**dict.fromkeys(status, "running"), "2/3": "completed"}


async def test_files_that_say_they_are_the_same_part_of_a_run_are_told_of(results: Results) -> None:
    options: dict[str, Any] = {"run": results.catalog.word(), "shard": "1/2", "file_name": "junit.xml"}

    async def codes(name: str, **others: Any) -> list[str]:
        sent = await results.send((name, "passed"), **{**options, **others})
        return [warning["code"] for warning in sent["warnings"]]

    assert "same_shard" not in await codes("first")
    assert "same_shard" in await codes("second")
    for number, others in enumerate(({"shard": "2/2"}, {"attempt": 2}, {"file_name": "e2e.xml"}, {"shard": "1/3"})):
        assert "same_shard" not in await codes(f"other {number}", **others)


async def test_shards_may_have_the_same_bytes(results: Results) -> None:
    key, name = results.catalog.word(), results.catalog.word()
    first = await results.send((name, "passed"), run=key, shard="1/2")
    again = await results.send((name, "passed"), run=key, shard="1/2")
    assert (again["duplicate"], again["run"]["status"]) == (True, "running")
    other = await results.send((name, "passed"), run=key, shard="2/2")
    assert (other["duplicate"], other["run"]["status"], other["run"]["health"]) == (False, "completed", "ok")
    assert other["run"]["counts"] == first["run"]["counts"]


async def test_the_same_bytes_count_once_in_each_environment_and_lane(results: Results) -> None:
    key, name = results.catalog.word(), results.catalog.word()
    sent = [
        await results.send((name, "passed"), run=key, environment=environment, lane=lane)
        for environment, lane in (("linux", "a"), ("linux", "a"), ("windows", "a"), ("windows", "b"))
    ]
    assert [one["duplicate"] for one in sent] == [False, True, False, False]
    ignored = {"run": f"{key} 2", "unknown": "ignore"}
    assert [(await results.send((name, "passed"), **ignored))["warnings"] for _ in range(2)] == [[], []]


async def test_a_run_of_sixteen_clients_is_the_same_as_one_in_order(results: Results) -> None:
    requirement, test_cases = await results.traced(8)
    files = [
        junit((named(test_case), end), ("shared", end), (f"own {number}", "passed"))
        for number, test_case in enumerate(test_cases)
        for end in ("failed", "passed")
    ]
    key = results.catalog.word()
    answers = await asyncio.gather(
        *(results.post(file, run=key, attempt=1 + number % 2) for number, file in enumerate(files))
    )
    assert [answer.status_code for answer in answers] == [200] * 16
    run = await results.catalog.read(f"/test-runs/{answers[0].json()['run']['id']}")
    assert len(run["uploads"]) == 16
    assert run["counts"] == {"tests": 17, "passed": 8, "failed": 0, "flaky": 9, "skipped": 0}
    found = await results.verdict(requirement)
    assert (found["verdict"], found["counts"]["flaky"]) == ("flaky", 8)


async def test_a_test_that_another_run_stores_meanwhile_is_the_same(results: Results) -> None:
    name = results.catalog.word()
    fingerprint = fingerprints("tests.Doors", "", "")
    fingerprint.update(name.encode())
    async with results.catalog.database.transaction() as other:
        await other.execute(
            "INSERT INTO automated_tests (fingerprint, class_name, name, suite, file, first_seen, last_seen)"
            " VALUES (%s, 'tests.Doors', %s, '', '', now(), now())",
            (fingerprint.digest(), name),
        )
        sending = asyncio.create_task(results.send((name, "passed"), run=name))
        async with results.catalog.database.connection() as watching:
            while not await fetch_value(watching, "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    sent = await sending
    listed = ok(await results.catalog.get("/automated-tests", search=name))
    ran = ok(await results.catalog.get(f"/test-runs/{sent['run']['id']}/results"))
    assert [test["id"] for test in listed["items"]] == [result["test"]["id"] for result in ran["items"]]


async def test_what_a_run_executed_is_listed_failures_first(results: Results) -> None:
    ends = ("passed", "skipped", "flaky", "failed")
    sent = await results.send(*((f"{end} {number}", end) for end in ends for number in range(2)))
    listed, after = [], {}
    while not listed or after:
        page = await results.catalog.read(f"/test-runs/{sent['run']['id']}/results", limit=3, **after)
        listed += [execution["status"] for execution in page["items"]]
        after = {"after": page["next_after"]} if page["next_after"] else {}
    assert listed == [end for end in reversed(ends) for _ in range(2)]


@pytest.mark.parametrize(
    ("ends", "counted"),
    [
        (("failed", "skipped"), "failed"),
        (("failed", "skipped", "passed"), "flaky"),
        (("skipped", "skipped"), "skipped"),
    ],
)
async def test_of_several_attempts_the_last_that_ran_the_test_counts(
    results: Results, ends: list[str], counted: str
) -> None:
    name = results.catalog.word()
    sent = await results.send(*((name, end) for end in ends), duplicates="last")
    assert (sent["run"]["counts"]["tests"], sent["run"]["counts"][counted]) == (1, 1)
    assert (sent["counts"]["results"], sent["counts"][counted]) == (1, 1)


async def test_a_test_without_a_time_has_no_duration(results: Results) -> None:
    sent = ok(await results.post(b'<testsuite><testcase classname="doors" name="close"/></testsuite>'))
    (execution,) = (await results.catalog.read(f"/test-runs/{sent['run']['id']}/results"))["items"]
    assert execution["duration_ms"] is None


async def test_names_of_any_length_are_taken(results: Results) -> None:
    chance = random.Random(1)
    long = "".join(chr(chance.randint(0x4E00, 0x9FFF)) for _ in range(4000))
    words = [f'{of}="{long[at : at + 2500]}"' for at, of in enumerate(("classname", "name", "file"))]
    report = f'<testsuites><testsuite name="{long}"><testcase {" ".join(words)}/></testsuite></testsuites>'.encode()
    for key in ("one", "another"):
        ok(await results.post(report, run=f"long:{key}"))
    [test] = (await results.catalog.read("/automated-tests", search=long[:20]))["items"]
    assert test["class_name"] == long[:600]


async def test_blanks_are_no_part_of_what_a_run_is_of(results: Results) -> None:
    word = results.catalog.word()
    run = (await results.send(("works", "passed"), run=f" {word}\n", branch=f"{word} ", environment=f" {word}"))["run"]
    assert [run[name] for name in ("key", "branch", "environment")] == [word] * 3
    for name in ("run", "branch", "environment", "commit", "name"):
        problem(await results.post(junit(("works", "passed")), **{name: " "}), 422)


async def test_a_key_of_another_commit_is_taken(results: Results) -> None:
    key = results.catalog.word()
    await results.send(("works", "passed"), run=key, commit="abc")
    problem(await results.post(junit(("works", "failed")), run=key, commit="def"), 409, "run_key_taken")


async def test_a_damaged_file_is_refused_with_its_place(results: Results) -> None:
    refused = problem(await results.post(b"<testsuite>\n<testcase name='a'>\n</testsuite>"), 422, "unreadable_file")
    assert refused["line"] == 3


async def test_a_large_file_of_no_known_format_is_refused(results: Results) -> None:
    problem(await results.post(b"no\n" * (1 << 19)), 415, "unknown_format")


async def test_a_form_is_told_of_the_part_that_it_is_to_have(results: Results) -> None:
    for name in ("report", "mapping"):
        refused = problem(await results.catalog.request("POST", "/test-results", files={name: b"{}"}), 422)
        (error,) = refused["errors"]
        assert error["pointer"] == f"/{name}"
        assert error["message"] == (
            f"There is no part '{name}'; a form has `file`, once for each file. Options are in the query."
        )


async def test_a_dry_run_stores_nothing(results: Results) -> None:
    key = results.catalog.word()
    sent = await results.send(("works", "passed"), run=key, dry_run=True)
    assert sent["tests"] == 1
    assert ok(await results.catalog.get("/test-runs", key=key))["total"] == 0


async def test_a_test_case_is_named_by_its_id_too(results: Results) -> None:
    requirement, (test_case,) = await results.traced()
    assert (await results.send((f"[{test_case['id']}] works", "passed")))["matched"] == 1
    assert (await results.verdict(requirement))["total"] == 1


async def test_several_files_of_a_form_are_uploads_of_one_run(results: Results) -> None:
    requirement, (first, second) = await results.traced(2)
    files = [
        ("a.xml", junit((named(first), "passed"), ("shared", "passed"))),
        ("b.xml", junit((named(second), "failed"), ("shared", "failed"))),
    ]
    sent = ok(await results.post_form(*files))
    assert sent["counts"] == {"results": 4, "passed": 2, "failed": 2, "flaky": 0, "skipped": 0}
    assert (sent["tests"], sent["matched"], sent["unknown"], sent["duplicate"]) == (4, 2, 2, False)
    assert [(file["file_name"], file["tests"]) for file in sent["files"]] == [("a.xml", 2), ("b.xml", 2)]
    assert sent["upload_id"] == sent["files"][0]["upload_id"]
    assert sent["run"]["status"] == "completed"
    assert sent["run"]["counts"] == {"tests": 3, "passed": 1, "failed": 2, "flaky": 0, "skipped": 0}
    run = await results.catalog.read(f"/test-runs/{sent['run']['id']}")
    assert {upload["file_name"] for upload in run["uploads"]} == {"a.xml", "b.xml"}
    assert (await results.verdict(requirement))["verdict"] == "failed"
    (ended,) = [
        event for event in await results.catalog.events("catalog.test_run.completed") if event["subject"] == run["id"]
    ]
    assert ended["data"]["counts"]["tests"] == 3

    alone = ok(await results.post_form(files[0]))
    assert "files" not in alone
    assert alone["tests"] == 2


async def test_a_form_has_each_file_of_a_run_once(results: Results) -> None:
    key, same = results.catalog.word(), junit(("works", "passed"))
    sent = ok(await results.post_form(("a.xml", same), ("b.xml", same), run=key))
    assert [file["duplicate"] for file in sent["files"]] == [False, True]
    assert (sent["duplicate"], sent["tests"]) == (False, 1)
    again = ok(await results.post_form(("a.xml", same), ("b.xml", same), run=key))
    assert (again["duplicate"], again["tests"]) == (True, 0)
    kept = {"Idempotency-Key": key}
    parts = [("file", (name, same)) for name in ("a.xml", "b.xml")]
    answers = [ok(await results.catalog.request("POST", "/test-results", files=parts, headers=kept)) for _ in range(2)]
    assert answers[0] == answers[1]


async def test_a_form_with_a_damaged_file_stores_none(results: Results) -> None:
    key = results.catalog.word()
    files = [("good.xml", junit(("works", "passed"))), ("bad.xml", b"<testsuite>")]
    refused = problem(await results.post_form(*files, run=key), 422, "unreadable_file")
    assert refused["detail"].startswith("bad.xml: ")
    empty = problem(await results.post_form(files[0], ("none.xml", b""), run=key), 422, "empty_file")
    assert "none.xml" in empty["detail"]
    problem(await results.post_form(files[0], files[0], run=key, file_name="one.xml"), 422)
    assert ok(await results.catalog.get("/test-runs", key=key))["total"] == 0


async def test_forms_whose_files_are_in_another_order_are_all_stored(results: Results) -> None:
    names = [results.catalog.word() for _ in range(6)]
    files = [(f"{name}.xml", junit((name, "passed"))) for name in names]
    orders = [files, files[::-1], files[3:] + files[:3]] * 2
    answers = await asyncio.gather(*(results.post_form(*order) for order in orders))
    assert [answer.status_code for answer in answers] == [200] * 6
    assert len({answer.json()["run"]["id"] for answer in answers}) == 6


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "//evil.test/", " https://ci.test", "ci"]
)
async def test_an_address_of_a_log_is_one_of_a_page(results: Results, address: str) -> None:
    refused = problem(await results.post(junit(("t", "passed")), build_url=address), 422, field="/query/build_url")
    assert refused["errors"][0]["code"] == "unsafe_url"
    assert "https://" in refused["detail"]
    body = {"key": results.catalog.word(), "build_url": address}
    problem(await results.catalog.post("/test-runs", body), 422, field="/build_url")
    taken = await results.send(("t", "passed"), build_url="https://ci.test/runs/7?attempt=1#log")
    assert taken["run"]["build_url"] == "https://ci.test/runs/7?attempt=1#log"


async def test_a_file_without_results_makes_its_run_incomplete_unless_it_is_meant_so(results: Results) -> None:
    for options, health, codes in (({}, ["no_results"], ["no_results"]), ({"allow_empty": True}, [], [])):
        sent = ok(await results.post(junit(), run=results.catalog.word(), shard="1/1", **options))
        assert sent["run"]["health_reasons"] == health
        assert [one["code"] for one in sent["warnings"]] == codes


async def test_tries_that_are_sent_as_such_are_not_told_of(results: Results) -> None:
    tries = (("opens", "failed"), ("opens", "passed"))
    for duplicates, told in (("worst", True), ("last", False)):
        sent = await results.send(*tries, duplicates=duplicates)
        assert ("like_tries" in [one["code"] for one in sent["warnings"]]) is told

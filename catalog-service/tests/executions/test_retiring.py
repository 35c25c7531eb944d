"""Tests that are missing: they are listed, and a person retires those that are gone for good."""

from typing import Any

import pytest

from testing.service import Json, ok, problem

from .conftest import Results

NOTE = {"note": "The left door is gone."}


class Lane:
    """A lane of a branch of its own, and its tests: one a test case."""

    def __init__(self, results: Results, test_cases: list[Json], requirement: Json) -> None:
        self.results = results
        self.catalog = results.catalog
        self.requirement = requirement
        self.test_cases = test_cases
        self.lane = self.branch = results.catalog.word()
        self.runs = 0

    async def run(self, *numbers: int, **options: Any) -> str:
        """Run the tests of these test cases as a whole; return the key of the run."""
        self.runs += 1
        cases = [(f"[{self.test_cases[number]['external_id']}]", "passed") for number in numbers]
        commit = f"{self.lane} {self.runs}"
        where = {"branch": self.branch, "lane": self.lane, "commit": commit, "run": commit, "shard": "1/1"}
        await self.results.send(*cases, **where | options)
        return commit

    async def tests(self) -> list[Json]:
        """The tests, in the order of their test cases."""
        found = []
        for case in self.test_cases:
            (test,) = (await self.catalog.read("/automated-tests", test_case_id=case["id"]))["items"]
            found.append(test)
        return found

    async def missing(self, **options: Any) -> list[Json]:
        page = await self.catalog.read("/automated-tests", missing=True, branch=self.branch, **options)
        return list(page["items"])

    async def verdict(self) -> str:
        return str((await self.results.verdict(self.requirement, branch=self.branch))["verdict"])


@pytest.fixture
async def lane(results: Results) -> Lane:
    requirement, test_cases = await results.traced(3)
    return Lane(results, test_cases, requirement)


async def test_missing_tests_are_listed_with_where_and_since_when(lane: Lane) -> None:
    await lane.run(0, 1, 2)
    assert await lane.missing() == []
    await lane.run(0, 1)
    last = await lane.run(0, 1)
    await lane.run(0, partial=True)
    (found,) = await lane.missing()
    assert found["id"] == (await lane.tests())[2]["id"]
    (where,) = found["missing"]
    assert where["branch"] == where["lane"] == lane.lane
    assert (where["missed_runs"], where["missed_run"], where["lane_gone"]) == (2, last, False)
    assert where["last_run_at"] < where["missed_since"]
    assert await lane.missing(lane="another") == []
    assert [one["id"] for one in await lane.missing(lane=lane.lane)] == [found["id"]]
    problem(await lane.catalog.get("/automated-tests", lane="ci"), 422, field="/query/lane")


async def test_a_retired_test_counts_for_nothing_until_it_runs_again(lane: Lane) -> None:
    await lane.run(0, 1, 2)
    await lane.run(0, 1)
    assert await lane.verdict() == "partial"
    gone = (await lane.tests())[2]
    retired = ok(await lane.catalog.post(f"/automated-tests/{gone['id']}/retire", NOTE))
    (where,) = retired["retired"]
    assert (where["lane"], where["retired_by"], where["note"]) == (lane.lane, "reviewer@example.test", NOTE["note"])
    assert await lane.missing() == []
    listed = await lane.catalog.read("/automated-tests", retired=True, ids=gone["id"])
    assert listed["items"][0]["retired"] == [where]
    found = await lane.results.verdict(lane.requirement, branch=lane.branch)
    assert {case["id"]: case["verdict"] for case in found["test_cases"]}[lane.test_cases[2]["id"]] == "not_run"
    (event,) = await lane.catalog.events("catalog.automated_tests.retired", subject=str(gone["id"]))
    assert (event["data"]["note"], event["actor"]) == (NOTE["note"], "reviewer@example.test")
    (told,) = event["data"]["tests"]
    assert told["lanes"] == [f"{lane.branch}, {lane.lane}"]
    assert told["test_case_ids"] == [lane.test_cases[2]["id"]]
    await lane.run(0, 1, 2)
    assert await lane.verdict() == "passed"
    assert (await lane.catalog.read("/automated-tests", retired=True, ids=gone["id"]))["total"] == 0


async def test_a_test_that_is_not_missing_is_not_retired_and_it_is_said_where_it_ran(lane: Lane, viewer: Any) -> None:
    key = await lane.run(0, 1, 2)
    path = f"/automated-tests/{(await lane.tests())[0]['id']}/retire"
    document = problem(await lane.catalog.post(path, NOTE), 409, "test_not_missing")
    assert key in document["detail"]
    assert lane.lane in document["detail"]
    problem(await lane.catalog.post(f"/automated-tests/{2**40}/retire", NOTE), 404, "automated_test_not_found")
    problem(await viewer.post(path, NOTE), 403)
    for note in ("", " \u200b ", "a" * 2001):
        problem(await lane.catalog.post(path, {"note": note}), 422, field="/note")


async def test_it_is_retired_where_it_is_missing_alone(lane: Lane) -> None:
    await lane.run(0, 1, 2)
    await lane.run(0, 1, 2, lane=f"{lane.lane} e2e")
    await lane.run(0, 1)
    gone = (await lane.tests())[2]
    retired = ok(await lane.catalog.post(f"/automated-tests/{gone['id']}/retire", NOTE))
    assert [one["lane"] for one in retired["retired"]] == [lane.lane]
    assert await lane.verdict() == "passed", "by the other lane"


async def test_what_people_executed_can_be_retired_unless_it_failed(lane: Lane) -> None:
    path = f"/test-cases/{lane.test_cases[0]['id']}/results"
    where = {"branch": lane.branch}
    ok(await lane.catalog.post(path, {"status": "failed", **where}), 201)
    (by_hand,) = (await lane.catalog.read(path, **where))["tests"]
    retire = f"/automated-tests/{by_hand['id']}/retire"
    assert "failed" in problem(await lane.catalog.post(retire, NOTE), 409, "test_not_missing")["detail"]
    ok(await lane.catalog.post(path, {"status": "passed", **where}), 201)
    assert [one["lane"] for one in ok(await lane.catalog.post(retire, NOTE))["retired"]] == ["manual"]
    assert (await lane.catalog.read(path, **where))["tests"] == []
    ok(await lane.catalog.post(path, {"status": "passed", **where}), 201)
    assert len((await lane.catalog.read(path, **where))["tests"]) == 1


async def test_many_are_retired_by_their_ids_each_with_its_answer(lane: Lane) -> None:
    await lane.run(0, 1, 2)
    await lane.run(0)
    tests = [test["id"] for test in await lane.tests()]
    body = {"ids": [*tests, 2**40], **NOTE}
    tried = ok(await lane.catalog.post("/automated-tests/bulk-retire", {**body, "dry_run": True}))
    assert (tried["matched"], tried["retired"], tried["failed"], tried["dry_run"]) == (4, 0, 2, True)
    assert len(await lane.missing()) == 2
    done = ok(await lane.catalog.post("/automated-tests/bulk-retire", body))
    assert (done["retired"], done["failed"], done["dry_run"]) == (2, 2, False)
    assert [(one["id"], one["error"] and one["error"]["code"]) for one in done["results"]] == [
        (tests[0], "test_not_missing"),
        (tests[1], None),
        (tests[2], None),
        (2**40, "automated_test_not_found"),
    ]
    assert await lane.missing() == []


async def test_the_missing_tests_of_a_lane_are_retired_when_they_are_as_many_as_was_said(lane: Lane) -> None:
    await lane.run(0, 1, 2)
    await lane.run(0)
    body = {"branch": lane.branch, "lane": lane.lane, **NOTE}
    path = "/automated-tests/bulk-retire"
    tried = ok(await lane.catalog.post(path, body))
    assert (tried["matched"], tried["dry_run"], len(tried["results"])) == (2, True, 2)
    assert '"expected_count": 2' in tried["message"]
    problem(await lane.catalog.post(path, {**body, "expected_count": 3}), 409, "count_changed")
    assert len(await lane.missing()) == 2
    once = {"Idempotency_Key": lane.catalog.word()}
    done, again = [ok(await lane.catalog.post(path, {**body, "expected_count": 2}, **once)) for _ in range(2)]
    assert done == again
    assert done["retired"] == 2
    assert await lane.missing() == []
    for wrong in ({"ids": [1]}, {"lane": None}):
        problem(await lane.catalog.post(path, {**body, **wrong}), 422)

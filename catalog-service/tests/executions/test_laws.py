"""What results come to, worked out again from the raw executions; and that the order of files changes none of it."""

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from catalog_service.executions import states
from catalog_service.executions.storing import AffectedCase
from testing.service import Json, ok

from .conftest import Results, junit

_ENDS = ("passed", "failed", "skipped", "flaky")
_WEIGHT = ("skipped", "passed", "flaky", "failed")
Upload = tuple[bytes, dict[str, Any]]


class World:
    """Requirements, test cases and links between them, and files of results about them."""

    def __init__(self, results: Results, chance: random.Random) -> None:
        self.results = results
        self.chance = chance
        self.branch = results.catalog.word()
        self.requirements: list[Json] = []
        self.test_cases: list[Json] = []
        self.links: dict[str, list[str]] = defaultdict(list)
        self.covered: set[str] = set()
        self.changed: set[str] = set()
        self.weights = chance.choice([(1, 1, 1, 1), (12, 1, 1, 1), (30, 0, 3, 1)])

    async def begin(self) -> None:
        catalog, chance = self.results.catalog, self.chance
        self.test_cases = [
            await catalog.test_case(external_id=catalog.word(), status="deprecated" if number == 0 else "ready")
            for number in range(6)
        ]
        for _ in range(5):
            requirement = await catalog.requirement(module=self.branch)
            self.requirements.append(requirement)
            for test_case in chance.sample(self.test_cases, chance.randint(0, 4)):
                link_type = chance.choice(["covers", "verifies", "related"])
                await catalog.link(requirement, test_case, link_type=link_type)
                self.covered.add(requirement["id"])
                if link_type != "related" and test_case["status"] != "deprecated":
                    self.links[requirement["id"]].append(test_case["id"])

    def uploads(self, runs: int) -> list[Upload]:
        """Files of runs on two branches: shards and attempts, each with some of the tests."""
        chance, found = self.chance, []
        for number in range(runs):
            key = f"{self.branch} {number}"
            options = {
                "run": key,
                "branch": chance.choice(["main", self.branch]),
                "commit": f"{self.branch} {number // 3}",
                "environment": chance.choice(["linux", "windows"]),
                "started_at": (datetime.now(UTC) - timedelta(days=20 - number)).isoformat(),
            }
            for attempt in range(1, chance.randint(1, 3) + 1):
                cases = chance.sample(self.test_cases[:5], chance.randint(1, 5))
                named = [(f"[{case['external_id']}][{chance.randint(1, 2)}]", self._end()) for case in cases]
                found.append((junit(*named, class_name="t"), {**options, "attempt": attempt}))
        return found

    def _end(self) -> str:
        return self.chance.choices(_ENDS, self.weights)[0]

    async def send(self, uploads: Sequence[Upload], prefix: str = "") -> None:
        for content, options in uploads:
            ok(await self.results.post(content, **{**options, "run": prefix + options["run"]}))

    async def change_some(self) -> None:
        """Give a requirement and a test case another meaning than they had when they passed."""
        for kind, item in (("requirements", self.requirements[0]), ("test-cases", self.test_cases[1])):
            ok(await self.results.catalog.patch(f"/{kind}/{item['id']}", {"description": "Another text."}))
            self.changed.add(item["id"])

    def end(self, end: str, requirement: str, test_case: str) -> str:
        """How a test case stands for a requirement, whose changes come after all passes."""
        return "stale" if end == "passed" and self.changed & {requirement, test_case} else end

    async def states(self) -> list[Json]:
        """How these test cases stand, as it is stored."""
        ids = [case["id"] for case in self.test_cases]
        return await self.results.catalog.rows(
            "SELECT * FROM test_case_state WHERE test_case_id = ANY(%s) ORDER BY test_case_id, context_id", ids
        )

    async def raw(self) -> list[Json]:
        """All executions of these test cases, the newest first."""
        return await self.results.catalog.rows(
            """
            SELECT c.test_case_id::text AS test_case, x.branch, x.environment, e.at, e.run_id, r.commit, e.status
            FROM executions e JOIN automated_test_cases c ON c.test_id = e.test_id
            JOIN run_contexts x ON x.id = e.context_id JOIN test_runs r ON r.id = e.run_id
            WHERE c.test_case_id = ANY(%s) ORDER BY e.at DESC, e.run_id DESC
            """,
            [case["id"] for case in self.test_cases],
        )


def _worst(ends: Sequence[str]) -> str:
    return max(ends, key=_WEIGHT.index)


def _state(rows: Sequence[Json]) -> tuple[str, datetime | None]:
    """How a test case stands on a branch and environment, and when it passed last; `rows`: the newest first."""
    runs: dict[Any, list[Json]] = defaultdict(list)
    for row in rows:
        runs[row["run_id"]].append(row)
    merged = [(_worst([row["status"] for row in of]), of[0]["commit"], of[0]["at"]) for of in runs.values()]
    executed = [(end == "failed", commit) for end, commit, _ in merged[:10] if end != "skipped"]
    flips = sum(failed != other and commit == before for (failed, commit), (other, before) in pairwise(executed))
    last = merged[0][0]
    passes = [at for end, _, at in merged if end in ("passed", "flaky")]
    return ("flaky" if last == "passed" and flips >= 2 else last), max(passes, default=None)


def _verdict_of_test_case(rows: Sequence[Json], branch: str) -> str:
    for wanted in (branch, "main"):
        states = [
            _state(of)
            for environment in ("linux", "windows")
            if (of := [row for row in rows if (row["branch"], row["environment"]) == (wanted, environment)])
        ]
        if states:
            end = _worst([state[0] for state in states])
            passed = max((at for _, at in states if at is not None), default=None)
            is_old = passed is not None and passed < datetime.now(UTC) - timedelta(days=14)
            return "stale" if end == "passed" and is_old else end
    passed_elsewhere = any(row["status"] in ("passed", "flaky") for row in rows)
    return "stale" if passed_elsewhere else "not_run"


def _verdict(ends: Sequence[str]) -> str:
    missing = [end for end in ends if end in ("not_run", "skipped")]
    if not ends:
        return "uncovered"
    for end in ("failed", "flaky"):
        if end in ends:
            return end
    if missing:
        return "not_run" if len(missing) == len(ends) else "partial"
    return "stale" if "stale" in ends else "passed"


@pytest.mark.parametrize("seed", [10, 19, 21, 24, 27])
async def test_verdicts_are_what_the_raw_executions_come_to(results: Results, seed: int) -> None:
    world = World(results, random.Random(seed))
    await world.begin()
    uploads = world.uploads(14)
    world.chance.shuffle(uploads)
    await world.send(uploads)
    if seed % 2:
        await world.change_some()
    raw = await world.raw()
    by_case = {case["id"]: [row for row in raw if row["test_case"] == case["id"]] for case in world.test_cases}
    seen = set()
    for branch in ("main", world.branch, "nothing"):
        report = await results.catalog.read("/reports/verification", module=world.branch, branch=branch)
        verdicts = {row["id"]: row for row in report["items"]}
        for requirement in world.requirements:
            linked = world.links[requirement["id"]]
            ends = [world.end(_verdict_of_test_case(by_case[case], branch), requirement["id"], case) for case in linked]
            row = verdicts[requirement["id"]]
            assert row["verdict"] == _verdict(ends), (branch, ends)
            assert row["counts"]["tests_linked"] == len(ends)
            assert [row["counts"][end] for end in ("passed", "failed", "flaky", "skipped", "not_run", "stale")] == [
                ends.count(end) for end in ("passed", "failed", "flaky", "skipped", "not_run", "stale")
            ]
            missing = [case for case, end in zip(linked, ends, strict=True) if end in ("not_run", "skipped")]
            assert sorted(row["missing"]) == sorted(missing)
            seen.add(row["verdict"])
            item = await results.verdict(requirement, branch=branch)
            assert (item["verdict"], item["counts"]) == (row["verdict"], row["counts"])
            shown = {case["id"]: case["verdict"] for case in item["test_cases"] if case["counts"]}
            assert sorted(shown) == sorted(linked)
        await _agree(world, branch, report, verdicts)
    assert len(seen) > 2


async def _agree(world: World, branch: str, report: Json, verdicts: dict[str, Json]) -> None:
    """Hold the matrix and the gate against the rows of the verification report."""
    catalog, of = world.results.catalog, {"module": world.branch, "branch": branch}
    matrix = await catalog.read("/reports/traceability-matrix", results=True, **of)
    assert {row["id"]: row["verdict"] for row in matrix["items"]} == {
        one: row["verdict"] for one, row in verdicts.items()
    }
    ends = [row["verdict"] for row in verdicts.values()]
    rules = {f"max_{end}": 0 for end in ("uncovered", "failed", "flaky", "stale", "not_run")}
    gate = await catalog.read("/reports/gate", min_verified=0, min_coverage=0, **rules, **of)
    assert {rule["rule"]: rule["actual"] for rule in gate["rules"]} == {
        **{rule: ends.count(rule.removeprefix("max_")) for rule in rules},
        "min_verified": round(100 * ends.count("passed") / len(ends), 2),
        # Coverage has its own meaning: of any link, whatever it says of verification.
        "min_coverage": round(100 * len(world.covered) / len(ends), 2),
    }
    assert report["summary"]["requirements"] == {end: ends.count(end) for end in report["summary"]["requirements"]}
    named = {
        rule["rule"]: sorted(item["id"] for item in rule["items"]) for rule in gate["rules"] if rule["rule"] in rules
    }
    assert named == {
        rule: sorted(one for one, row in verdicts.items() if row["verdict"] == rule.removeprefix("max_"))
        for rule in rules
    }


async def test_the_order_of_files_changes_nothing(results: Results) -> None:
    world = World(results, random.Random(7))
    await world.begin()
    uploads = world.uploads(6)
    left: list[Any] = []
    for turn in range(3):
        again = [upload for upload in uploads for _ in range(1 + turn)]
        world.chance.shuffle(again)
        await world.send(uploads if turn == 0 else again, f"{turn} ")
        runs = f"{turn} {world.branch} %"
        left.append(
            await results.catalog.rows(
                """
                SELECT substr(r.key, 3) AS key, x.branch, x.environment, t.class_name, t.name, e.at, e.status,
                       e.outcomes, f.attempt, f.message, f.iterations
                FROM executions e JOIN test_runs r ON r.id = e.run_id JOIN run_contexts x ON x.id = e.context_id
                JOIN automated_tests t ON t.id = e.test_id
                LEFT JOIN execution_failures f ON f.test_id = e.test_id AND f.run_id = e.run_id AND f.at = e.at
                WHERE r.key LIKE %s ORDER BY 1, 2, 3, 4, 5
                """,
                runs,
            )
        )
    assert left[0] == left[1] == left[2] != []


@pytest.mark.parametrize("seed", [3, 19, 24])
async def test_states_that_follow_runs_are_those_that_are_worked_out_anew(results: Results, seed: int) -> None:
    world = World(results, random.Random(seed))
    await world.begin()
    uploads = world.uploads(20)
    for some in (uploads[:-8], world.chance.sample(uploads[-8:], 8)):
        await world.send(some)
        before = await world.states()
        async with results.catalog.database.transaction() as connection:
            await states.refresh(
                connection, [AffectedCase(state["test_case_id"], state["context_id"]) for state in before]
            )
        assert await world.states() == before != []

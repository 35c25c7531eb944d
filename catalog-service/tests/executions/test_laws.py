"""What results come to, worked out again from the raw executions; and that the order of files changes none of it."""

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog_service.executions import states
from catalog_service.executions.states import Affected
from testing.service import Json, ok

from . import model
from .conftest import Results, junit

_ENDS = ("passed", "failed", "skipped", "flaky")
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
        self.weights = chance.choice([(12, 1, 1, 1), (30, 1, 1, 1), (40, 0, 3, 1)])

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
        """Files of runs on two branches: lanes, shards and attempts, each with some of the tests."""
        chance, found = self.chance, []
        for number in range(runs):
            key = f"{self.branch} {number}"
            commit = f"{self.branch} at {number // 3}" if chance.random() < 0.8 else None
            began = 20 - (number if chance.random() < 0.8 else number // 3)  # the rest: of an old commit again
            options = {
                "run": key,
                "branch": chance.choice(["main", self.branch]),
                **({"commit": commit} if commit else {}),
                "environment": chance.choice(["linux", "windows"]),
                "started_at": (datetime.now(UTC) - timedelta(days=began, minutes=number)).isoformat(),
            }
            for lane in chance.choice([["unit"], ["e2e"], ["unit", "e2e"]]):
                part = {"lane": f"{lane} {self.branch}", **({"partial": True} if chance.random() < 0.2 else {})}
                shards = chance.choice([[{}], [{}], [{"shard": "1/2"}, {"shard": "2/2"}], [{"shard": "1/2"}]])
                for attempt in range(1, chance.randint(1, 2) + 1):
                    found += [(self._report(), {**options, **part, **shard, "attempt": attempt}) for shard in shards]
        return found

    def _report(self) -> bytes:
        chance = self.chance
        cases = chance.sample(self.test_cases[:5], chance.randint(1, 5))
        # A suite that failed around its tests: what it holds is not the whole.
        broken = chance.random() < 0.1
        named = [
            (f"[{case['external_id']}]" + chance.choice(["", " closed", f"[{chance.randint(1, 2)}]"]), self._end())
            for case in cases
        ]
        if broken:
            named = [(name, "passed" if end == "failed" else end) for name, end in named]
        # The same bytes would be the same file.
        return junit(*named, class_name="t", suite_fails=broken) + f"<!-- {chance.random()} -->".encode()

    def _end(self) -> str:
        return self.chance.choices(_ENDS, self.weights)[0]

    async def send(self, uploads: Sequence[Upload], prefix: str = "") -> None:
        for content, options in uploads:
            ok(await self.results.post(content, **{**options, "run": prefix + options["run"]}))

    async def end_runs(self, some: Sequence[Upload]) -> None:
        """End the runs of some files."""
        for key in {options["run"] for _, options in some}:
            (run,) = (await self.results.catalog.read("/test-runs", key=key))["items"]
            ok(await self.results.catalog.post(f"/test-runs/{run['id']}/complete"))

    async def execute_by_hand(self) -> None:
        """Have a person look at some test cases."""
        for case in self.chance.sample(self.test_cases[:5], 2):
            body = {"status": self.chance.choice(["passed", "failed"]), "branch": self.branch, "environment": "linux"}
            ok(await self.results.catalog.post(f"/test-cases/{case['id']}/results", body), 201)

    async def change_some(self) -> None:
        """Give a requirement and a test case another meaning than they had when they passed."""
        for kind, item in (("requirements", self.requirements[0]), ("test-cases", self.test_cases[1])):
            ok(await self.results.catalog.patch(f"/{kind}/{item['id']}", {"description": "Another text."}))
            self.changed.add(item["id"])

    def end(self, end: str, requirement: str, test_case: str) -> str:
        """How a test case stands for a requirement, whose changes come after all passes."""
        return "stale" if end == "passed" and self.changed & {requirement, test_case} else end

    async def states(self) -> list[Json]:
        """How the tests of these test cases stand, as it is stored."""
        ids = [case["id"] for case in self.test_cases]
        return await self.results.catalog.rows(
            "SELECT * FROM test_states WHERE test_case_id = ANY(%s) ORDER BY test_case_id, test_id, context_id", ids
        )

    async def executions(self) -> dict[str, list[model.Execution]]:
        """All executions of the tests of each of these test cases."""
        rows = await self.results.catalog.rows(
            """
            SELECT c.test_case_id::text AS test_case, e.test_id::text AS test, x.lane, x.environment, x.branch,
                   coalesce(nullif(r.commit, ''), r.id::text) AS commit, e.at, outcome_status(i.value) AS status,
                   i.key AS iteration
            FROM executions e JOIN automated_test_cases c ON c.test_id = e.test_id
            CROSS JOIN LATERAL jsonb_each_text(coalesce(e.iterations, jsonb_build_object('', e.outcomes))) AS i
            JOIN run_contexts x ON x.id = e.context_id JOIN test_runs r ON r.id = e.run_id
            WHERE c.test_case_id = ANY(%s)
            """,
            [case["id"] for case in self.test_cases],
        )
        found: dict[str, list[model.Execution]] = {case["id"]: [] for case in self.test_cases}
        for row in rows:
            found[row.pop("test_case")].append(model.Execution(**row))
        return found

    async def commits(self, branch: str) -> tuple[dict[str, datetime], set[Any]]:
        """When the commits of a branch began, and the lanes that none of the last ten has."""
        rows = await self.results.catalog.rows(
            "SELECT coalesce(commit, id::text) AS commit, id, is_manual, at FROM test_runs WHERE branch = %s", branch
        )
        order: dict[str, datetime] = {}
        for row in rows:
            if row["is_manual"] or row["at"] < order.get(row["commit"], row["at"] + timedelta(1)):
                order[row["commit"]] = row["at"]
        of_ci = {row["commit"] for row in rows if not row["is_manual"]}
        last = sorted({order[commit] for commit in of_ci})[-10:]
        recent = {row["id"] for row in rows if order[row["commit"]] in last}
        lanes = await self.results.catalog.rows(
            "SELECT DISTINCT x.environment, x.lane, u.run_id FROM run_uploads u"
            " JOIN run_contexts x ON x.id = u.context_id WHERE x.branch = %s",
            branch,
        )
        have = {(row["environment"], row["lane"]) for row in lanes if row["run_id"] in recent}
        return order, {(row["environment"], row["lane"]) for row in lanes} - have

    def wholes(self, uploads: Sequence[Upload], ended: Sequence[Upload]) -> list[model.Whole]:
        """The runs and lanes that have the whole, by what was sent."""
        files: dict[Any, list[tuple[bytes, Json]]] = defaultdict(list)
        shards_of: dict[str, dict[Any, set[str]]] = defaultdict(lambda: defaultdict(set))
        for content, options in uploads:
            files[options["run"], options["lane"]].append((content, options))
            if "shard" in options:
                shards_of[options["run"]][options["lane"]].add(options["shard"])
        keys = {options["run"] for _, options in ended} | {
            run for run, lanes in shards_of.items() if all(len(shards) == 2 for shards in lanes.values())
        }
        found = []
        for (run, lane), of in files.items():
            shards = shards_of[run].get(lane, {"", " "})
            last = max(options["attempt"] for _, options in of)
            broken = any(b"failures" in content for content, options in of if options["attempt"] == last)
            partial = any("partial" in options for _, options in of)
            if run in keys and len(shards) == 2 and not broken and not partial:
                options = of[0][1]
                commit = options.get("commit") or run
                found.append(model.Whole(lane, options["environment"], options["branch"], commit))
        return found


async def _come_to(world: World, wholes: list[model.Whole], branch: str) -> dict[str, str]:
    """How each test case stands on a branch, by the model."""
    executions = await world.executions()
    runs = await world.results.catalog.rows(
        "SELECT id::text AS id, key FROM test_runs WHERE key LIKE %s", f"{world.branch} %"
    )
    own = {row["key"]: row["id"] for row in runs}
    wholes = [one._replace(commit=own.get(one.commit, one.commit)) for one in wholes]
    found = {}
    for case, of in executions.items():
        order, gone = await world.commits(branch)
        tests: list[Any] = [*model.tests_of(of, wholes, order, gone, branch).values()]
        if branch != "main":
            default = model.tests_of(of, wholes, *await world.commits("main"), "main")
            dropped = model.dropped_by(of, wholes, order, gone, branch, default)
            tests = [*dropped, *(tests or default.values())]
        end = model.verdict(tests, datetime.now(UTC) - timedelta(days=14))
        passed = any(one.status in ("passed", "flaky") for one in of)
        found[case] = "stale" if not tests and passed else end
    return found


@pytest.mark.parametrize("seed", [10, 19, 21, 31, 38])
async def test_verdicts_are_what_the_raw_executions_come_to(results: Results, seed: int) -> None:
    world = World(results, random.Random(seed))
    await world.begin()
    uploads = world.uploads(14)
    ended = world.chance.sample(uploads, len(uploads) // 3)
    world.chance.shuffle(uploads)
    await world.send(uploads[:-5])
    await world.end_runs([one for one in ended if one in uploads[:-5]])
    await world.execute_by_hand()
    await world.send(uploads[-5:])
    if seed % 2:
        await world.change_some()
    wholes = world.wholes(uploads, [one for one in ended if one in uploads[:-5]])
    seen = set()
    for branch in ("main", world.branch, "nothing"):
        standing = await _come_to(world, wholes, branch)
        report = await results.catalog.read("/reports/verification", module=world.branch, branch=branch)
        verdicts = {row["id"]: row for row in report["items"]}
        for requirement in world.requirements:
            linked = world.links[requirement["id"]]
            ends = [world.end(standing[case], requirement["id"], case) for case in linked]
            row = verdicts[requirement["id"]]
            assert row["verdict"] == model.verdict_of_requirement(ends), (branch, ends)
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
    assert len(seen) > 1


async def _agree(world: World, branch: str, report: Json, verdicts: dict[str, Json]) -> None:
    """Hold the matrix and the gate against the rows of the verification report."""
    catalog, of = world.results.catalog, {"module": world.branch, "branch": branch}
    matrix = await catalog.read("/reports/traceability-matrix", results=True, **of)
    assert {row["id"]: row["verdict"] for row in matrix["items"]} == {
        one: row["verdict"] for one, row in verdicts.items()
    }
    ends = [row["verdict"] for row in verdicts.values()]
    rules = {f"max_{end}": 0 for end in ("uncovered", "failed", "flaky", "stale", "not_run")}
    asked = {"min_verified": 0, "min_coverage": 0, **rules}
    gate = await catalog.read("/reports/gate", **asked, **of)
    assert {rule["rule"]: rule["actual"] for rule in gate["rules"] if rule["rule"] in asked} == {
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
                SELECT substr(r.key, 3) AS key, x.branch, x.environment, x.lane, t.class_name, t.name, e.at, e.status,
                       e.outcomes, e.iterations, f.attempt, f.message, f.iterations AS failed
                FROM executions e JOIN test_runs r ON r.id = e.run_id JOIN run_contexts x ON x.id = e.context_id
                JOIN automated_tests t ON t.id = e.test_id
                LEFT JOIN execution_failures f ON f.test_id = e.test_id AND f.run_id = e.run_id AND f.at = e.at
                WHERE r.key LIKE %s ORDER BY 1, 2, 3, 4, 5, 6
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
                connection,
                [Affected(state["test_case_id"], state["test_id"], state["context_id"]) for state in before],
            )
        assert await world.states() == before != []

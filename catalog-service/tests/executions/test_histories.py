"""Random histories of test cases: lanes, shards, attempts, repeated and late pipelines, in any order.

Each comes to what the model says of it, whatever came first and whatever was sent twice. Several test cases share their
pipelines, and each has ends of its own: a history more costs no file more.
"""

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from testing.service import Json, ok

from . import model
from .conftest import Results, junit

_ENDS = ("passed", "failed", "skipped", "flaky")
_LANES = ("unit", "e2e")
_NAMES = ("a[1]", "a[2]", "b", "c")
Cases = list[tuple[str, str]]
"""The tests of a test case that a file has, and how they end."""


@dataclass
class Run:
    """A pipeline: when it began, of which commit, and what its files say."""

    key: str
    commit: str | None
    began: datetime
    ends: bool
    files: list[tuple[dict[str, Any], list[Cases]]] = field(default_factory=list)
    """How each was sent, and what it has of each test case."""

    def name(self) -> str:
        """The commit, or for a run without one, itself."""
        return self.commit or self.key


def history(chance: random.Random, branch: str, test_cases: int) -> list[Run]:
    """Some pipelines of a branch over three commits, each with one or two lanes."""
    start = datetime.now(UTC) - timedelta(days=chance.choice([2, 13, 15]))
    runs = []
    for number in range(chance.randint(1, 5)):
        commit = chance.choice(["c1", "c2", "c3", None])
        run = Run(
            f"{branch} {number}",
            commit and f"{branch} {commit}",
            start + timedelta(minutes=chance.randint(0, 10**6) / 10**4, seconds=number),
            chance.random() < 0.7,
        )
        for lane in chance.sample(_LANES, chance.randint(1, 2)):
            partial = {"partial": True} if chance.random() < 0.2 else {}
            shards = chance.choice([[{}], [{}], [{"shard": "1/2"}, {"shard": "2/2"}], [{"shard": "2/2"}]])
            for attempt in range(1, chance.choice([1, 1, 2]) + 1):
                run.files += [
                    (
                        {"lane": lane, "attempt": attempt, **partial, **shard},
                        # No file is empty, whatever of the others it has.
                        [_cases(chance, least=number == 0) for number in range(test_cases)],
                    )
                    for shard in shards
                ]
        runs.append(run)
    return runs


def _cases(chance: random.Random, *, least: int) -> Cases:
    return [(name, chance.choices(_ENDS, (6, 2, 1, 1))[0]) for name in chance.sample(_NAMES, chance.randint(least, 3))]


def _attempts_together(run: Run, lane: str, number: int) -> dict[str, str]:
    """How each iteration of the tests of a lane ended in a run: by the last attempt that ran it, or flaky."""
    found: dict[str, str] = {}
    for name in _NAMES:
        tries: dict[int, str] = {}
        for options, cases in run.files:
            for case, end in cases[number]:
                if (options["lane"], case) == (lane, name):
                    tries[options["attempt"]] = model.worst([end, tries.get(options["attempt"], end)])
        ran = [end for _, end in sorted(tries.items()) if end != "skipped"]
        if tries:
            last = ran[-1] if ran else "skipped"
            failed_before = any(end in ("failed", "flaky") for end in ran)
            found[name] = "flaky" if last == "passed" and failed_before else last
    return found


def _comes_to(runs: list[Run], branch: str, number: int) -> Any:
    """What the model says of a test case on the branch: each test in each lane, and itself."""
    executions, wholes = [], []
    order: dict[str, datetime] = {}
    for run in runs:
        order[run.name()] = min(order.get(run.name(), run.began), run.began)
        shards = {
            lane: {options["shard"] for options, _ in run.files if options["lane"] == lane and "shard" in options}
            for lane in _LANES
        }
        in_parts = [of for of in shards.values() if of]
        is_ended = run.ends or (bool(in_parts) and all(len(of) == 2 for of in in_parts))
        for lane in {options["lane"] for options, _ in run.files}:
            for name, end in _attempts_together(run, lane, number).items():
                test, _, iteration = name.partition("[")
                executions.append(model.Execution(test, lane, "", branch, run.name(), run.began, end, iteration))
            partial = any("partial" in options for options, _ in run.files if options["lane"] == lane)
            if is_ended and not partial and len(shards[lane]) != 1:
                wholes.append(model.Whole(lane, "", branch, run.name()))
    tests = model.tests_of(executions, wholes, order, set(), branch)
    return tests, model.verdict([*tests.values()], datetime.now(UTC) - timedelta(days=14))


async def _send(results: Results, test_cases: list[Json], runs: list[Run], branch: str, chance: random.Random) -> None:
    sending = [(run, *file) for run in runs for file in run.files]
    again = chance.sample(sending, len(sending) // 3)  # as after a restart, or by who got no answer
    both = [*sending, *again]
    chance.shuffle(both)
    ended = set()
    for number, (run, options, of_cases) in enumerate(both):
        named = [
            (f"[{test_case['external_id']}] {name}", end)
            for test_case, cases in zip(test_cases, of_cases, strict=True)
            for name, end in cases
        ]
        of: dict[str, Any] = {"branch": branch, "run": run.key, "started_at": run.began.isoformat(), **options}
        sent = ok(await results.post(junit(*named), **of, **({"commit": run.commit} if run.commit else {})))
        # A run may be ended before its last files come.
        left = [one for one, _, _ in both[number + 1 :] if one is run]
        if run.ends and run.key not in ended and (not left or chance.random() < 0.3):
            ok(await results.catalog.post(f"/test-runs/{sent['run']['id']}/complete"))
            ended.add(run.key)


async def _check(results: Results, test_cases: list[Json], seed: int) -> None:
    """Check a history of each of some test cases."""
    chance, branch = random.Random(seed), results.catalog.word()
    runs = history(chance, branch, len(test_cases))
    await _send(results, test_cases, runs, branch, chance)
    for number, test_case in enumerate(test_cases):
        tests, verdict = _comes_to(runs, branch, number)
        path = f"/test-cases/{test_case['id']}/results"
        found = await results.catalog.read(path, branch=branch, fallback=False, limit=1)
        shown = {
            (test["name"].partition("] ")[2], "", test["lane"]): (test["last_result"], test["missing"])
            for test in found["tests"]
        }
        assert shown == {key: (status, is_missing) for key, (status, _, is_missing) in tests.items()}, (seed, number)
        # What has no test here is as it is elsewhere.
        assert found["verdict"] == verdict or not tests, (seed, number)


async def test_some_histories_come_to_what_the_model_says(results: Results) -> None:
    _, test_cases = await results.traced(5)
    for seed in range(98, 106):
        await _check(results, test_cases, seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 1200, 25))
async def test_two_thousand_histories_come_to_what_the_model_says(results: Results, first: int) -> None:
    _, test_cases = await results.traced(10)
    for seed in range(first, first + 25):
        await _check(results, test_cases, seed)

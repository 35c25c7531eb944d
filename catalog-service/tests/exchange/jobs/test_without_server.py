"""What `traceline check` says of files is what the service says once it has them."""

import csv
import io
import itertools
import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from executions import model

from testing.service import Json, ok
from traceline_check.judging import check
from traceline_check.verdicts import judge_requirement, judge_test_case

from .conftest import Imports

_ENDS = ("passed", "passed", "passed", "failed", "skipped")
_RULES: list[Json] = [
    {"rule": "require_run"},
    *({"rule": f"max_{what}", "limit": 0} for what in ("failed", "flaky", "stale", "not_run", "uncovered")),
    *({"rule": f"min_{what}", "limit": 60} for what in ("coverage", "verified")),
    {"rule": "max_incomplete_runs", "limit": 0},
]
_INSIDE = {"passed": "", "failed": '<failure message="no"/>', "skipped": "<skipped/>"}


def _table(rows: list[Json]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _record(chance: random.Random, module: str) -> tuple[dict[str, bytes], list[str]]:
    """Return tables of some requirements and test cases with their links, and the external ids of the test cases."""
    words = {"description": "It holds.", "type": "functional", "priority": "high", "module": module}
    requirements = [f"R{module[:8]}-{number}" for number in range(1, chance.randint(2, 7))]
    test_cases = [f"T{module[:8]}-{number}" for number in range(1, chance.randint(2, 9))]
    cases = []
    related: list[Json] = []
    for key in test_cases:
        linked = chance.sample(requirements, chance.randint(0, min(3, len(requirements))))
        others = [one for one in requirements if one not in linked and chance.random() < 0.2]
        related += [{"kind": "link", "requirement": one, "test_case": key, "link_type": "related"} for one in others]
        status = chance.choices(["ready", "deprecated"], (5, 1))[0]
        cases.append({"external_id": key, "title": key, **words, "status": status, "requirements": ", ".join(linked)})
    files = {
        "requirements.csv": _table([{"external_id": key, "title": key, **words} for key in requirements]),
        "test_cases.csv": _table(cases),
        **({"links.ndjson": b"".join(orjson.dumps(one) + b"\n" for one in related)} if related else {}),
    }
    return files, test_cases


def _tests(chance: random.Random, keys: list[str]) -> list[tuple[str, str]]:
    return [
        (f"{chance.choice('abc')} [{chance.choice(keys)}]", chance.choice(_ENDS)) for _ in range(chance.randint(0, 9))
    ]


def _junit(tests: list[tuple[str, str]]) -> bytes:
    cases = "".join(f'<testcase classname="t" name="{name}">{_INSIDE[end]}</testcase>' for name, end in tests)
    return f"<testsuites><testsuite name='all'>{cases}</testsuite></testsuites>".encode()


def _ctrf(chance: random.Random, tests: list[tuple[str, str]]) -> bytes:
    listed = [
        {
            "name": name,
            "status": end,
            "duration": 1,
            **({"flaky": True} if end == "passed" and chance.random() < 0.2 else {}),
        }
        for name, end in tests
    ]
    return orjson.dumps({"results": {"tool": {"name": "x"}, "summary": {}, "tests": listed}})


def _plain(rule: Json, commit: str) -> tuple[Any, ...]:
    reason = rule["reason"].replace(f"the commit {commit}", "these files").replace(f"run {commit}", "run")
    return rule["rule"], rule["limit"], rule["actual"], rule["passed"], reason, [one["reason"] for one in rule["items"]]


@pytest.mark.parametrize("seed", range(12))
async def test_a_verdict_over_files_is_that_of_the_service(imports: Imports, tmp_path: Path, seed: int) -> None:
    chance, catalog = random.Random(seed), imports.catalog
    module = commit = catalog.word()
    files, keys = _record(chance, module)
    for name, content in files.items():
        headers = {"content-type": "application/octet-stream"}
        job = ok(await imports.send_file(content, headers, file_name=name, apply="always"))
        assert job["status"] == "applied", job
    reports = {
        **{f"{number}.xml": _junit(_tests(chance, keys)) for number in range(chance.randint(1, 2))},
        **{f"{number}.json": _ctrf(chance, _tests(chance, keys)) for number in range(chance.randint(0, 1))},
    }
    run: Json = {}
    for name, content in reports.items():
        of = {"run": commit, "commit": commit, "branch": commit, "file_name": name}
        run = ok(await catalog.request("POST", "/test-results", content=content, params=of))["run"]
    ok(await catalog.post(f"/test-runs/{run['id']}/complete"))
    for name, content in {**files, **reports}.items():
        (tmp_path / name).write_bytes(content)

    where = {"module": module}
    policy = {"rules": [{**rule, "where": where} for rule in _RULES]}
    answer = check([tmp_path], {}, policy)
    asked = {"branch": commit, "commit": commit}
    gate = ok(await catalog.request("POST", "/reports/gate", json=policy, params=asked))
    of_service = [
        _plain(rule, commit) for rule in gate["rules"] if rule["rule"] not in {"require_run", "max_incomplete_runs"}
    ]
    of_files = [
        _plain(rule, "") for rule in answer["rules"] if rule["rule"] not in {"require_run", "max_incomplete_runs"}
    ]
    assert of_files == of_service
    held = {rule["rule"]: rule["passed"] for rule in gate["rules"]}
    assert {rule["rule"]: rule["passed"] for rule in answer["rules"]} == held
    verdicts = (await catalog.read("/reports/verification", **where, **asked, limit=500))["items"]
    assert {one["external_id"]: one["verdict"] for one in answer["requirements"]} == {
        one["external_id"]: one["verdict"] for one in verdicts
    }


def test_verdicts_are_those_of_the_model() -> None:
    ends = [end for end in model.ORDER if end != "stale"]
    for several in itertools.chain.from_iterable(itertools.combinations_with_replacement(ends, n) for n in range(4)):
        assert judge_requirement(several) == model.verdict_of_requirement([*several])
        tests: list[Any] = [(end, None, False) for end in several if end != "not_run"]
        assert judge_test_case([end for end, _, _ in tests]) == model.verdict(tests, None)  # type: ignore[arg-type]

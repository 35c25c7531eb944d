"""Schemathesis over the whole OpenAPI document: no failure, and no answer that the document does not tell of."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from acceptance.client import Json, Traceline, ok

HERE = Path(__file__).parent
COUNT = 20
"""Of each kind of thing that exists when an attack begins."""


def attack(admin: Traceline, leaving: Traceline, place: Path, *options: str, known: dict[str, list[str]]) -> Json:
    """Run Schemathesis with the configuration beside this file; return its report; what it finds fails the test.

    Args: ``leaving`` is who logs out, which ends the token that it is done with.
    """
    report = place / "report.json"
    ok(admin.get("/openapi.json"))  # made when it is first asked for; Schemathesis waits 10 s for it
    environment = os.environ | {
        "TRACELINE_TOKEN": str(admin.token),
        "TRACELINE_LEAVING_TOKEN": str(leaving.token),
        "TRACELINE_SPARED_USERS": str(admin.me()["id"]),
        "TRACELINE_KNOWN_IDS": json.dumps(known),
    }
    ended = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            "--config-file=schemathesis.toml",
            "run",
            f"{admin.base_url}/api/v1/openapi.json",
            "--continue-on-failure",
            "--report=json",
            f"--report-json-path={report}",
            *options,
        ],
        cwd=HERE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-20_000:] + ended.stderr[-5000:]
    said: Json = json.loads(report.read_text())
    print(f"{said['test_cases']['generated']} requests in {said['running_time']:.0f} s")
    return said


def things(admin: Traceline) -> dict[str, list[str]]:
    """Ids of things that exist, by the names that the document gives them."""
    pairs = [admin.create_pair() for _ in range(COUNT)]
    run = admin.generate()
    links = [admin.create_link(one["id"], other["id"]) for (one, _), (_, other) in pairwise(pairs)]
    return {
        "requirement_id": [requirement["id"] for requirement, _ in pairs],
        "test_case_id": [test_case["id"] for _, test_case in pairs],
        "link_id": [link["id"] for link in links],
        "suggestion_id": [found["id"] for found in admin.read("/suggestions", limit=COUNT)["items"]],
        "run_id": [run["id"]],
        "notification_id": [found["id"] for found in admin.read("/notifications", limit=COUNT)["items"]],
        "user_id": [admin.new_user().me()["id"] for _ in range(3)],
    }


@pytest.mark.timeout(3600)
def test_nothing_that_schemathesis_tries_meets_a_failure_or_an_undocumented_answer(
    admin: Traceline, memory: Any, tmp_path: Path
) -> None:
    # The phase that walks the limits of each parameter takes three quarters of the time: the long form has it, and two
    # hundred examples of each operation where here is one.
    phases = "--phases=examples,fuzzing,stateful"
    options = ["--seed=1", "--generation-deterministic", "--max-examples=1", "--no-shrink", phases]
    attacker = admin.new_user("admin")
    known = things(admin)
    with memory.growing_less_than(50):
        said = attack(attacker, admin.new_user(), tmp_path, *options, known=known)
    ok(admin.get("/auth/me"))
    assert said["test_cases"]["generated"] > 1000
    assert said["operations"]["selected"] == said["operations"]["tested"]
    assert sorted(phase["status"] for phase in said["phases"].values()) == ["skip", *["success"] * 3]


@pytest.mark.long
def test_ten_thousand_requests_of_schemathesis_meet_no_failure_twice(
    admin: Traceline, memory: Any, tmp_path: Path
) -> None:
    # All of them first: an attack guesses passwords too, and then its address cannot log in for a while.
    attackers = [(admin.new_user("admin"), admin.new_user()) for _ in range(2)]
    attacks = [(*users, things(admin)) for users in attackers]
    # The last one first: it spares those who were there before it.
    for seed, (attacker, leaving, known) in enumerate(reversed(attacks), start=2):
        options = [f"--seed={seed}", "--generation-database=none", "--max-examples=200"]
        # What a process loads only once it is used, passwords and scoring for example, is no growth.
        attack(attacker, leaving, tmp_path, *options, "--phases=coverage", known=known)
        with memory.growing_less_than(50):
            said = attack(attacker, leaving, tmp_path, *options, known=known)
        assert said["test_cases"]["generated"] > 10_000
        print(f"{memory.resident() // 2**20} MiB in memory")

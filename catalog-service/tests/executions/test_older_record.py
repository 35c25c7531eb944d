"""Results that were stored before there were lanes come to what the model says of them, once they are migrated."""

import random
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from chassis import migrations
from testing import PostgresServer

from . import model

_ENDS = ("passed", "failed", "skipped", "flaky")
_OUTCOMES = {"passed": "2", "failed": "4", "skipped": "1", "flaky": "3"}


def fill(connection: psycopg.Connection[Any], chance: random.Random, *, tests: int, runs: int) -> None:
    """Store runs of two pipelines, of files by themselves and of people, on two branches, as the version before did."""
    began = datetime.now(UTC) - timedelta(days=60)
    execute = connection.execute
    cases = [uuid4() for _ in range(tests // 2)]
    for case in cases:
        execute(
            "INSERT INTO test_cases (id, title, description, type, priority, status, automation_status, created_at,"
            " updated_at) VALUES (%s, 'T', 'T', 'functional', 'low', 'ready', 'automated', now(), now())",
            (case,),
        )
    for number in range(tests):
        execute(
            "INSERT INTO automated_tests (fingerprint, class_name, name, suite, file, is_manual, first_seen, last_seen)"
            " VALUES (%s, 't', %s, '', '', %s, now(), now())",
            (str(number).encode(), f"test {number}", number >= tests - 2),
        )
    ids = [row["id"] for row in execute("SELECT id FROM automated_tests ORDER BY id").fetchall()]
    for number, one in enumerate(ids):
        execute(
            "INSERT INTO automated_test_cases (test_id, test_case_id, matched_by, named_at) VALUES (%s, %s, %s, now())",
            (one, cases[number // 2], "named"),
        )
    contexts = {}
    for branch in ("main", "other"):
        for environment in ("", "linux"):
            row = execute(
                "INSERT INTO run_contexts (branch, environment, last_run_at) VALUES (%s, %s, now()) RETURNING id",
                (branch, environment),
            ).fetchone()
            contexts[branch, environment] = row["id"]
    execute(
        "SELECT make_execution_months(%s::timestamptz + n * interval '20 days') FROM generate_series(0, 4) n", (began,)
    )
    for number in range(runs):
        where = chance.choice(list(contexts))
        kind = chance.choice(["github", "github", "local", "sole", "manual"])
        run, at = uuid4(), began + timedelta(days=50 * number / runs, minutes=chance.randint(0, 3000))
        key = {"github": f"github:acme/doors:{number}", "local": f"local:{number}"}.get(kind, str(uuid4()))
        commit = f"c{number // 3}" if kind in ("github", "local") and chance.random() < 0.9 else None
        execute(
            "INSERT INTO test_runs (id, key, name, context_id, branch, environment, commit, at, status, is_manual,"
            " counts, created_by, created_at, updated_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, '{}', 'ci', %s, now())",
            (
                *(run, key, chance.choice(["CI", "Nightly"]), contexts[where], *where, commit, at),
                *("running" if chance.random() < 0.1 else "completed", kind == "manual", at),
            ),
        )
        if kind != "manual":
            warnings = '[{"code": "suite_failed", "message": "", "count": 1}]' if chance.random() < 0.1 else "[]"
            execute(
                "INSERT INTO run_uploads (id, run_id, sha256, attempt, format, size, counts, warnings, created_by,"
                " created_at) VALUES (%s, %s, 'x', 1, 'junit', 1, '{}', %s, 'ci', now())",
                (uuid4(), run, warnings),
            )
        own = ids[-2:] if kind == "manual" else ids[:-2]
        with connection.cursor().copy(
            "COPY executions (test_id, context_id, at, run_id, status, outcomes) FROM STDIN"
        ) as copy:
            for one in chance.sample(own, 1 if kind == "manual" else chance.randint(len(own) // 2, len(own))):
                end = chance.choice(_ENDS)
                copy.write_row((one, contexts[where], at, run, end, _OUTCOMES[end]))


def _lane(run: dict[str, Any]) -> str:
    if run["is_manual"]:
        return "manual"
    return str(run["name"] if run["key"].startswith("github:") else "junit")


def _is_sole(run: dict[str, Any]) -> bool:
    return run["commit"] is None and not run["key"].startswith(("github:", "local:"))


@pytest.mark.parametrize(("tests", "runs"), [(30, 60), pytest.param(1300, 1360, marks=pytest.mark.long)])
def test_states_of_an_older_record_are_those_of_the_model(postgres: PostgresServer, tests: int, runs: int) -> None:
    url = postgres.older_database("catalog_service")
    with psycopg.connect(url, row_factory=dict_row) as connection:
        connection.execute("TRUNCATE test_cases, automated_tests, run_contexts, test_runs, executions CASCADE")
        fill(connection, random.Random(5), tests=tests, runs=runs)
        raw = connection.execute(
            "SELECT e.test_id, e.run_id, e.at, e.status, x.branch, x.environment"
            " FROM executions e JOIN run_contexts x ON x.id = e.context_id"
        ).fetchall()
        of_runs: dict[UUID, dict[str, Any]] = {
            row["id"]: row for row in connection.execute("SELECT * FROM test_runs").fetchall()
        }
        broken = {
            row["run_id"]
            for row in connection.execute("SELECT run_id FROM run_uploads WHERE warnings::text <> '[]'").fetchall()
        }
    began = time.perf_counter()
    migrations.upgrade("catalog_service", url)
    print(f"{len(raw):,} executions taken over in {time.perf_counter() - began:.1f} s")
    with psycopg.connect(url, row_factory=dict_row) as connection:
        stored = connection.execute(
            """
            SELECT s.test_id, x.branch, x.environment, x.lane, s.status, s.last_pass_at, s.outcomes, s.changes,
                   s.position < (SELECT max(l.position) FROM run_lanes l WHERE l.context_id = x.id AND l.is_whole)
                   AS is_missing
            FROM test_states s JOIN run_contexts x ON x.id = s.context_id
            """
        ).fetchall()
        assert connection.execute("SELECT count(*) AS n FROM executions").fetchone() == {"n": len(raw)}
    own = {one: str(run["commit"] or one) for one, run in of_runs.items()}
    executions = [
        model.Execution(
            *(
                str(row["test_id"]),
                _lane(of_runs[row["run_id"]]),
                row["environment"],
                row["branch"],
                own[row["run_id"]],
            ),
            *(row["at"], row["status"]),
        )
        for row in raw
    ]
    wholes = [
        model.Whole(_lane(run), run["environment"], run["branch"], own[one])
        for one, run in of_runs.items()
        if run["status"] == "completed" and not run["is_manual"] and not _is_sole(run) and one not in broken
    ]
    expected: dict[Any, Any] = {}
    for branch in ("main", "other"):
        order: dict[str, datetime] = defaultdict(lambda: datetime.max.replace(tzinfo=UTC))
        for one, run in of_runs.items():
            if run["branch"] == branch:
                order[own[one]] = min(order[own[one]], run["at"])
        for (test, environment, lane), (status, passed, is_missing) in model.tests_of(
            executions, wholes, order, set(), branch
        ).items():
            expected[int(test), branch, environment, lane] = (status, is_missing, passed)
    assert {
        (row["test_id"], row["branch"], row["environment"], row["lane"]): (
            row["status"],
            bool(row["is_missing"]),
            row["last_pass_at"] if row["status"] in ("passed", "flaky") else None,
        )
        for row in stored
    } == expected
    assert {is_missing for _, is_missing, _ in expected.values()} == {True, False}
    assert {lane for *_, lane in expected} == {"CI", "Nightly", "junit", "manual"}

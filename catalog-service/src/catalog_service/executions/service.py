"""What results say of an item, as it is answered."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from catalog_service import verdict_reads, verdicts
from catalog_service.authorship import author
from catalog_service.executions import completion, history, lanes, runs, storing
from catalog_service.executions.runs import RunSpec
from catalog_service.executions.schemas import ManualExecution
from catalog_service.items import repository as items
from catalog_service.items.kinds import BRIEF, REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.settings import Settings
from catalog_service.verdict_reads import LinkedTestCase, TestBehind
from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.db.rows import fetch_value
from chassis.messaging.events import Actor
from chassis.web.conditions import Conditions
from chassis.web.listing import PageRequest, Row

_STANDING = (*BRIEF, "status", "verdict", "last_result", "last_run_at", "last_pass_at")
_LONGEST_NAME = 200
"""Characters of what people call a run."""
_SHOWN = (*_STANDING, "link_type", "counts")


async def _brief(connection: Connection, kind: ItemKind, item_id: UUID) -> Row:
    found = await items.find(connection, kind, item_id, "")
    if found is None:
        raise kind.not_found()
    return {name: found[name] for name in BRIEF}


async def of_requirement(connection: Connection, requirement_id: UUID, basis: Basis, *, allow_flaky: bool) -> Row:
    """Return the verdict of a requirement and of each of its test cases; raise NotFound."""
    brief = await _brief(connection, REQUIREMENT, requirement_id)
    verdict = (await verdict_reads.of_requirements(connection, [requirement_id], basis))[requirement_id]
    test_cases = await verdict_reads.test_cases_of(connection, requirement_id, basis)
    tests = await verdict_reads.tests_of(connection, [row["id"] for row in test_cases], basis)
    return {
        "requirement": brief,
        "branch": basis.branch,
        "environment": basis.environment,
        "verdict": verdict["verdict"],
        "verified": verdicts.is_verified(verdict["verdict"], allow_flaky=allow_flaky),
        "counts": verdict["counts"],
        "missing": verdict["missing"],
        "test_cases": [standing(row, tests, basis, _SHOWN) for row in test_cases],
    }


def standing(
    row: LinkedTestCase, tests: Mapping[UUID, list[TestBehind]], basis: Basis, names: Sequence[str] = _STANDING
) -> Row:
    """Return a test case with its verdict as it is answered; `tests`: those that verdicts come from."""
    all_of_it: Row = dict(row)
    reasons = verdict_reads.reasons(row, tests.get(row["id"], []), basis)
    return {**{name: all_of_it[name] for name in names}, "reasons": reasons}


async def execute(
    connection: Connection, test_case_id: UUID, body: ManualExecution, actor: Actor, settings: Settings
) -> Row:
    """Store an execution by a person, and return it as it is answered; raise NotFound."""
    test_case = await _brief(connection, TEST_CASE, test_case_id)
    now = datetime.now(UTC)
    branch = body.branch or settings.results_default_branch
    name = f"By hand: {test_case['external_id'] or test_case['title']}"[:_LONGEST_NAME]
    spec = RunSpec(None, branch, name, body.commit, body.environment, at=now)
    run, _ = await runs.open_run(connection, spec, author(actor), now, is_manual=True)
    context_id = await lanes.find_context(connection, branch, body.environment or "", lanes.MANUAL, run["at"])
    stored = storing.Run(run["id"], context_id, run["at"])
    await storing.store_manual(connection, stored, test_case_id, body.status.value, body.notes)
    await completion.complete(connection, run["id"], actor, now, settings.results_default_branch)
    found = await history.page(
        connection, history.OF_RUN, Conditions(run=run["id"]), PageRequest(history.NEWEST_FIRST, 1)
    )
    execution: Row = found.rows[0]
    return execution


async def of_test_case(connection: Connection, test_case_id: UUID, basis: Basis) -> Row:
    """Return the verdict of a test case; raise NotFound."""
    brief = await _brief(connection, TEST_CASE, test_case_id)
    row = await verdict_reads.of_test_case(connection, test_case_id, basis)
    tests = (await verdict_reads.tests_of(connection, [test_case_id], basis)).get(test_case_id, [])
    outcomes = await fetch_value(
        connection,
        """
        SELECT translate(s.outcomes, '1234', 'spkf') FROM test_states s JOIN run_contexts c ON c.id = s.context_id
        WHERE s.test_case_id = %(id)s AND c.branch = CASE WHEN %(fallback)s THEN %(default_branch)s ELSE %(branch)s END
        AND (%(environment)s::text IS NULL OR c.environment = %(environment)s)
        ORDER BY s.at DESC, c.environment, c.lane, s.test_id LIMIT 1
        """,
        {"id": test_case_id, "fallback": row["on_default_branch"], **basis.parameters},
    )
    return {
        "test_case": brief,
        "branch": basis.branch,
        "environment": basis.environment,
        "verdict": row["verdict"],
        "last_result": row["last_result"],
        "last_run_at": row["last_run_at"],
        "last_pass_at": row["last_pass_at"],
        "reasons": verdict_reads.reasons(row, tests, basis),
        "tests": [dict(one) for one in tests],
        "outcomes": outcomes or "",
    }

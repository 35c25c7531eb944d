"""What results add to the record itself, where the caller asks for it: test cases of unknown tests, links."""

from hashlib import sha256
from typing import Any

from catalog_service.executions import incoming
from catalog_service.executions.runs import StoredRun
from catalog_service.fields import repository as project_fields
from catalog_service.items import repository as items
from catalog_service.items.kinds import TEST_CASE
from catalog_service.items.service import new
from catalog_service.links.service import create_imported
from catalog_service.test_cases.schemas import TestCaseWrite
from catalog_service.values import AutomationStatus, LinkType, TestCaseType
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value
from chassis.messaging.events import Actor

_LONGEST_ID = 100
_AT_ONCE = 500


async def lock_creations(connection: Connection) -> None:
    """Wait for others who make test cases of tests: two of one test would have the same external_id."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('test cases of tests'))")


async def create_test_cases(connection: Connection, run: StoredRun, actor: Actor) -> int:
    """Make test cases of the tests that have none; return how many. One that has such an external_id is taken."""
    wanted: dict[str, list[dict[str, Any]]] = {}
    for test in await incoming.unmatched(connection):
        wanted.setdefault(external_id(test), []).append(test)
    known = await connection.execute(
        "SELECT id, external_id FROM test_cases WHERE external_id = ANY(%s)", (list(wanted),)
    )
    ids = {row["external_id"]: row["id"] for row in await known.fetchall()}
    own = await project_fields.of(connection)
    made = [new(TEST_CASE, _fields(key, tests[0], run), actor, own) for key, tests in wanted.items() if key not in ids]
    for start in range(0, len(made), _AT_ONCE):
        await items.insert_all(connection, TEST_CASE, made[start : start + _AT_ONCE], own.revision)
    ids |= {row["external_id"]: row["id"] for row, _ in made}
    await incoming.add_created(
        connection, [(test["fingerprint"], ids[key]) for key, tests in wanted.items() for test in tests]
    )
    return len(made)


def external_id(test: dict[str, Any]) -> str:
    """Return the external_id of a test case that is made of a test: where it is and its name, or their hash."""
    name = _place(test).strip() or "test"
    name = name.replace("\0", "")
    return name if len(name) <= _LONGEST_ID else sha256(name.encode()).hexdigest()


def _place(test: dict[str, Any]) -> str:
    """Return the name of a test behind its class; without one, tests of other suites or files may have the same."""
    return ".".join(filter(None, (test["class_name"] or test["suite"] or test["file"], test["name"])))


def _fields(key: str, test: dict[str, Any], run: StoredRun) -> dict[str, Any]:
    title = test["name"].strip() or test["class_name"].strip() or "Test without a name"
    where = _place(test) or title
    body = TestCaseWrite(
        external_id=key,
        title=title[:500],
        description=f"Automated test {where}",
        type=TestCaseType.FUNCTIONAL,
        priority="medium",
        automation_status=AutomationStatus.AUTOMATED,
        source_system=run["key"].partition(":")[0][:50] if ":" in run["key"] else "ci",
    )
    return dict(body.__dict__)


async def link(connection: Connection, actor: Actor, *, made_alone: bool) -> int:
    """Link the test cases of a file to the requirements that its results name; return how many links are new.

    `made_alone`: link only test cases that were made of tests.
    """
    cursor = await connection.execute(
        f"""
        SELECT DISTINCT r.id AS requirement_id, c.test_case_id
        FROM incoming i JOIN incoming_tests t USING (fingerprint) JOIN automated_test_cases c ON c.test_id = t.test_id
        CROSS JOIN LATERAL (
            SELECT json_array_elements_text(i.requirements) UNION SELECT json_array_elements_text(i.maybe_requirements)
        ) AS named (word)
        JOIN requirements r ON r.external_id = named.word
        WHERE (i.requirements IS NOT NULL OR i.maybe_requirements IS NOT NULL) AND NOT EXISTS (
            SELECT FROM links l WHERE l.requirement_id = r.id AND l.test_case_id = c.test_case_id)
        {"AND c.matched_by = 'created'" if made_alone else ""}
        ORDER BY r.id, c.test_case_id
        """
    )
    pairs = [(row["requirement_id"], row["test_case_id"]) for row in await cursor.fetchall()]
    return await create_imported(connection, pairs, LinkType.VERIFIES, actor) if pairs else 0


async def read_not_linked(connection: Connection) -> tuple[list[str], list[str]]:
    """Return requirements that properties of results name: those that do not exist, and those without a link there.

    A test has no link to them where it has no test case, or one that is not linked to them.
    """
    if not await fetch_value(connection, "SELECT EXISTS (SELECT FROM incoming WHERE requirements IS NOT NULL)"):
        return [], []
    unknown = await fetch_column(
        connection,
        """
        SELECT DISTINCT word FROM incoming i CROSS JOIN LATERAL json_array_elements_text(i.requirements) AS word
        WHERE i.requirements IS NOT NULL AND NOT EXISTS (SELECT FROM requirements r WHERE r.external_id = word)
        ORDER BY word LIMIT 100
        """,
    )
    left = await fetch_column(
        connection,
        """
        SELECT DISTINCT r.external_id FROM incoming i
        CROSS JOIN LATERAL json_array_elements_text(i.requirements) AS word JOIN requirements r ON r.external_id = word
        LEFT JOIN incoming_tests t USING (fingerprint)
        WHERE i.requirements IS NOT NULL AND NOT EXISTS (
            SELECT FROM automated_test_cases c JOIN links l ON l.test_case_id = c.test_case_id
            WHERE c.test_id = t.test_id AND l.requirement_id = r.id)
        ORDER BY r.external_id LIMIT 100
        """,
    )
    return unknown, left

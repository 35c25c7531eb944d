"""The test cases with a missing test, as a gate names them."""

from collections.abc import Sequence
from uuid import UUID

from catalog_service.executions import gate_items
from catalog_service.items.kinds import TEST_CASE
from catalog_service.verdict_reads import tests_of, why_not_run
from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.web.listing import Row


async def read(connection: Connection, ids: Sequence[UUID], basis: Basis) -> list[Row]:
    """Return test cases, each with the first of its tests that is missing."""
    if not ids:
        return []
    tests = await tests_of(connection, ids, basis)
    cursor = await connection.execute(
        "SELECT id, external_id, title, module FROM test_cases WHERE id = ANY(%s) ORDER BY external_id, id", ([*ids],)
    )
    found = []
    for row in await cursor.fetchall():
        missing = [test for test in tests.get(row["id"], []) if test["missing"]]
        more = f" And {len(missing) - 1} more." if len(missing) > 1 else ""
        why = f"{row['external_id'] or row['title']}: {why_not_run(missing[0], basis)[1]}{more}" if missing else ""
        found.append(gate_items.named(row, why, f"{TEST_CASE.path}/{row['id']}"))
    return found

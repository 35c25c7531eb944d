"""The rows of the matrix with what results say of them, and with what stands above and below them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from catalog_service import verdict_reads
from catalog_service.items.kinds import BRIEF
from catalog_service.reports.repository import MatrixRow
from catalog_service.rolled.queries import ROLLS_UP
from catalog_service.verdicts import Basis
from chassis.db.database import Connection
from chassis.web.listing import Row


async def add_results(connection: Connection, rows: Sequence[MatrixRow], basis: Basis) -> None:
    """Add to requirements their verdict, and each of their test cases how it ended last and when, in place."""
    of_rows = await verdict_reads.of_requirements(connection, [row["id"] for row in rows], basis)
    ids = [UUID(test_case["id"]) for row in rows for test_case in row["test_cases"]]
    last = await verdict_reads.last_results(connection, ids, basis)
    for row in rows:
        row["verdict"] = of_rows[row["id"]]["verdict"]
        for test_case in row["test_cases"]:
            found = last.get(UUID(test_case["id"]))
            test_case["last_result"] = None if found is None else found["last_result"]
            test_case["last_run_at"] = None if found is None else found["last_run_at"]


_PARENTS = f"""
    SELECT k.child_id, {", ".join(f"p.{name}" for name in BRIEF)}
    FROM requirement_relations k JOIN requirements p ON p.id = k.parent_id
    WHERE k.child_id = ANY(%(ids)s) AND {ROLLS_UP} ORDER BY p.external_id, p.id"""


async def add_rolled(connection: Connection, rows: Sequence[MatrixRow], verdicts: Mapping[UUID, Row]) -> None:
    """Add to requirements the parents that they count for, and their rolled verdict out of `verdicts`, in place."""
    cursor = await connection.execute(_PARENTS, {"ids": [row["id"] for row in rows]})
    parents: dict[UUID, list[Row]] = {}
    for parent in await cursor.fetchall():
        parents.setdefault(parent.pop("child_id"), []).append(parent)
    for row in rows:
        row["parents"] = parents.get(row["id"], [])
        row["rolled_verdict"] = verdicts[row["id"]]["rolled_verdict"]

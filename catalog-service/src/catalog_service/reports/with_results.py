"""The rows of the matrix with what results say of them."""

from collections.abc import Sequence
from uuid import UUID

from catalog_service import verdict_reads
from catalog_service.reports.repository import MatrixRow
from catalog_service.verdicts import Basis
from chassis.db.database import Connection


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

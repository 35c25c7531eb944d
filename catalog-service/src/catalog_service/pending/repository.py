"""Table `pending_pairs`: pairs that are pending, and tombstones of those that were."""

from collections.abc import Mapping, Sequence

from chassis.db.database import Connection
from chassis.messaging.rebuild import Reach, replace

NOT_LINKED = """NOT EXISTS (
    SELECT FROM links WHERE links.requirement_id = p.requirement_id AND links.test_case_id = p.test_case_id)"""
"""Of `pending_pairs p`: a link is to be seen before the news that its pair is pending no more."""

_PUT = """
WITH state AS (
    INSERT INTO pending_pairs_state (only_row, state) VALUES (true, gen_random_uuid())
    ON CONFLICT (project_id, only_row) DO UPDATE SET state = excluded.state
)
INSERT INTO pending_pairs AS known (requirement_id, test_case_id, pending, sequence)
SELECT DISTINCT requirement_id, test_case_id, %(pending)s, %(sequence)s::bigint
FROM unnest(%(requirements)s::text[]::uuid[], %(test_cases)s::text[]::uuid[]) AS pair (requirement_id, test_case_id)
ON CONFLICT (requirement_id, test_case_id) DO UPDATE SET pending = excluded.pending, sequence = excluded.sequence
WHERE known.sequence < excluded.sequence
"""


async def put(
    connection: Connection, requirements: Sequence[str], test_cases: Sequence[str], *, pending: bool, sequence: int
) -> None:
    """Store that these pairs are pending, or are so no more, as the event at this place of the feed says."""
    await connection.execute(
        _PUT,
        {"requirements": [*requirements], "test_cases": [*test_cases], "pending": pending, "sequence": sequence},
    )


async def merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    """Make the pairs what the rebuilt ones are; return how many were wrong or missing."""
    corrected = await replace(connection, "pending_pairs", reach, "requirement_id", "test_case_id")
    if corrected:
        await connection.execute("UPDATE public.pending_pairs_state SET state = gen_random_uuid()")
    return {"pending_pairs": corrected}

"""SQL of scoring: which pairs may be suggested, and what is pending."""

from collections.abc import Collection, Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_value
from suggestion_service.store.suggestions import MAY_BE_SUGGESTED, PENDING

_CANDIDATES = f"""
SELECT n.place, o.own IS NULL AS new
FROM jsonb_to_recordset(%(pairs)s::jsonb) AS n(place integer, requirement_id uuid, test_case_id uuid,
    requirement_text_sequence bigint, test_case_text_sequence bigint)
LEFT JOIN LATERAL (SELECT true AS own FROM suggestions s WHERE s.requirement_id = n.requirement_id
    AND s.test_case_id = n.test_case_id AND s.run_id = %(run_id)s LIMIT 1) o ON true
WHERE o.own OR ({MAY_BE_SUGGESTED})
"""

_THRESHOLD_FOR = f"""
SELECT (SELECT s.similarity_score FROM suggestions s WHERE {PENDING} ORDER BY s.similarity_score DESC
    OFFSET %(wanted)s * r.number LIMIT 1) AS threshold
FROM (SELECT count(*) AS number FROM items WHERE side = 'requirement' AND NOT deleted) r
WHERE (SELECT count(*) FROM suggestions s WHERE {PENDING}) > %(most)s * r.number
"""

_PENDING = f"SELECT s.id, s.requirement_id, s.test_case_id FROM suggestions s WHERE {PENDING}"

_PENDING_OF = f"{_PENDING} AND (s.requirement_id = ANY(%(ids)s) OR s.test_case_id = ANY(%(ids)s))"

# In the order of an index, from after one pair on.
_PENDING_BETWEEN = f"""
{_PENDING} AND (s.requirement_id, s.test_case_id) > (%(requirement_id)s, %(test_case_id)s)
    AND s.requirement_id <= %(last_id)s AND s.run_id IS DISTINCT FROM %(run_id)s
ORDER BY s.requirement_id, s.test_case_id LIMIT %(limit)s
"""

# All but what a run has added that was to leave pending ones alone, and with them their scale.
_PENDING_IN_SCALE = f"""
{_PENDING} AND s.id > %(after)s AND (s.suggestion_method = %(method)s
    OR NOT EXISTS (SELECT FROM runs r WHERE r.id = s.run_id AND NOT r.rescore))
ORDER BY s.id LIMIT %(limit)s
"""

_PENDING_NAMES = f"""
SELECT s.id, s.requirement_id, s.test_case_id, s.variant_group, t.title, t.external_id
FROM suggestions s JOIN items t ON t.id = s.test_case_id
WHERE s.requirement_id = ANY(%s) AND {PENDING}
"""


class PendingPair(NamedTuple):
    """A pending suggestion."""

    id: UUID
    requirement_id: UUID
    test_case_id: UUID

    @property
    def pair(self) -> tuple[UUID, UUID]:
        """Its requirement and its test case."""
        return self.requirement_id, self.test_case_id


class PendingName(NamedTuple):
    """A pending suggestion, what its test case is called, and the group of variants that it is in by now."""

    id: UUID
    requirement_id: UUID
    test_case_id: UUID
    variant_group: str | None
    title: str
    external_id: str | None


async def candidates(connection: Connection, pairs: str, run_id: UUID | None) -> tuple[set[int], int]:
    """Return the places of those pairs that may be suggested, and how many this same run has suggested already.

    `pairs` is a JSON array of objects with `place`, the two ids and the two text sequences.
    """
    cursor = await connection.execute(_CANDIDATES, {"pairs": pairs, "run_id": run_id}, prepare=False)
    rows = await cursor.fetchall()
    new = {row["place"] for row in rows if row["new"]}
    return new, len(rows) - len(new)


async def pending_of(connection: Connection, item_ids: Sequence[UUID]) -> list[PendingPair]:
    """Return the pending suggestions of these items."""
    return await fetch_all(connection, PendingPair, _PENDING_OF, {"ids": list(item_ids)})


async def pending_between(
    connection: Connection, after: tuple[UUID, UUID], last_id: UUID, run_id: UUID, limit: int
) -> list[PendingPair]:
    """Return pending suggestions that are not this run's, by their pairs, from after the pair (requirement, test case)
    to those of the requirement `last_id`.
    """
    place = {"requirement_id": after[0], "test_case_id": after[1], "last_id": last_id}
    return await fetch_all(connection, PendingPair, _PENDING_BETWEEN, {**place, "run_id": run_id, "limit": limit})


async def pending_in_scale(connection: Connection, method: str, after: UUID, limit: int) -> list[PendingPair]:
    """Return, by id, the pending suggestions that shall have a score by this method."""
    return await fetch_all(
        connection, PendingPair, _PENDING_IN_SCALE, {"method": method, "after": after, "limit": limit}
    )


async def pending_names(connection: Connection, requirement_ids: Collection[UUID]) -> list[PendingName]:
    """Return the pending suggestions of requirements."""
    return await fetch_all(connection, PendingName, _PENDING_NAMES, (list(requirement_ids),))


async def bodies(connection: Connection, test_case_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return what test cases say beside their titles."""
    cursor = await connection.execute(
        "SELECT id, text - 'title' AS said FROM items WHERE id = ANY(%s)", (list(test_case_ids),)
    )
    return {row["id"]: "\n".join(_texts(row["said"])) for row in await cursor.fetchall()}


def _texts(said: dict[str, Any]) -> Iterator[str]:
    for value in said.values():
        yield from value.values() if isinstance(value, dict) else (str(value),)


async def threshold_for(connection: Connection, wanted: int, most: int) -> float | None:
    """Return the threshold that would leave `wanted` pending suggestions a requirement, two decimals, upwards.

    None unless more than `most` a requirement are pending.
    """
    exact: float | None = await fetch_value(connection, _THRESHOLD_FOR, {"wanted": wanted, "most": most})
    return None if exact is None else min(1.0, ceil(exact * 100) / 100)

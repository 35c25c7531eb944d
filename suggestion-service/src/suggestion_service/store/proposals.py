"""Table `proposals`: every transition of a proposal, and what guards it.

    new ── insert ──> pending ── reject ────────────────────────> rejected ──┐
                      │  ^ ^  └─ intent, applied in catalog ───> accepted ──┤
                      │  │ └────────────── undo intent, reopen ─────────────┘
                      ├── withdraw: by its agent
                      ├── expire: linked directly, an item is gone, too old, or catalog refused it
                      └── outdate: the item has another version than that which it was proposed for

Proposals of links are reviewed with the suggestion of their pair where one is pending (`follow`), and all of a pair
at once.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column
from suggestion_service.store import proposal_intents
from suggestion_service.store.suggestions import Rejection

PENDING = "p.status = 'pending'"
REVIEWABLE = f"{PENDING} AND {proposal_intents.NONE}"
"""Pending, and nobody is reviewing it."""


def _name(side: str, column: str) -> str:
    return f"(SELECT i.{column} FROM items i WHERE i.id = p.{side}_id) AS {side}_{column}"


_CHANGED = (
    "p.id, p.kind, p.status, p.requirement_id, p.test_case_id, p.body, p.rationale, p.agent_id, p.agent_name,"
    " p.owner_email, p.client, p.batch, p.feedback, p.review_id, p.made_id,"
    f" {_name('requirement', 'title')}, {_name('test_case', 'title')},"
    f" {_name('requirement', 'external_id')}, {_name('test_case', 'external_id')}"
)

_INSERT = f"""
INSERT INTO proposals AS p (id, kind, status, requirement_id, test_case_id, target, body, before, digest, rationale,
    evidence, confidence, engine_score, agent_id, agent_name, owner_id, owner_email, client, batch, created_at,
    requirement_text_sequence, test_case_text_sequence)
VALUES (%(id)s, %(kind)s, 'pending', %(requirement_id)s, %(test_case_id)s, %(target)s, %(body)s, %(before)s,
    %(digest)s, %(rationale)s, %(evidence)s, %(confidence)s, %(engine_score)s, %(agent_id)s, %(agent_name)s,
    %(owner_id)s, %(owner_email)s, %(client)s, %(batch)s, %(created_at)s, %(requirement_text_sequence)s,
    %(test_case_text_sequence)s)
ON CONFLICT (project_id, agent_id, digest) WHERE status = 'pending' DO NOTHING
RETURNING {_CHANGED}
"""

# The text that was reviewed is the text as it is now: only a later one makes the pair worth proposing again.
_SEQUENCES = """requirement_text_sequence = coalesce(
        (SELECT text_sequence FROM items WHERE id = p.requirement_id), p.requirement_text_sequence),
    test_case_text_sequence = coalesce(
        (SELECT text_sequence FROM items WHERE id = p.test_case_id), p.test_case_text_sequence)"""

_ACCEPT = f"""
WITH done AS ({proposal_intents.FINISH})
UPDATE proposals p SET status = 'accepted', reviewed_at = done.created_at, reviewed_by = done.reviewer_email,
    feedback = done.feedback, review_id = done.review_id, made_id = %(made_id)s, {_SEQUENCES}
FROM done WHERE p.id = done.proposal_id
RETURNING {_CHANGED}
"""

# Whoever proposed the same link has their answer, too.
_ACCEPT_OTHERS = f"""
UPDATE proposals p SET status = 'accepted', reviewed_at = first.reviewed_at, reviewed_by = first.reviewed_by,
    feedback = first.feedback, review_id = first.review_id, made_id = first.made_id, {_SEQUENCES}
FROM proposals first
WHERE first.id = ANY(%(ids)s) AND first.kind = 'link' AND p.kind = 'link' AND p.id <> first.id
    AND p.requirement_id = first.requirement_id AND p.test_case_id = first.test_case_id AND {REVIEWABLE}
RETURNING {_CHANGED}
"""

_FOLLOW = f"""
UPDATE proposals p SET status = s.status, reviewed_at = s.reviewed_at, reviewed_by = s.reviewed_by,
    feedback = s.feedback, review_id = s.review_id, made_id = s.link_id, suggestion_id = s.id,
    engine_score = s.similarity_score, {_SEQUENCES}
FROM suggestions s
WHERE s.id = ANY(%(ids)s) AND s.status IN ('accepted', 'rejected') AND p.kind = 'link'
    AND p.requirement_id = s.requirement_id AND p.test_case_id = s.test_case_id AND {REVIEWABLE}
RETURNING {_CHANGED}
"""

# Whoever proposed the same link has their answer, too.
_REJECT = f"""
UPDATE proposals p SET status = 'rejected', reviewed_at = %(now)s, reviewed_by = %(email)s, feedback = %(feedback)s,
    review_id = %(review_id)s, {_SEQUENCES}
WHERE (p.id = ANY(%(ids)s) OR p.kind = 'link' AND (p.requirement_id, p.test_case_id) IN (
        SELECT p.requirement_id, p.test_case_id FROM proposals p
        WHERE p.id = ANY(%(ids)s) AND p.kind = 'link' AND {REVIEWABLE})) AND {REVIEWABLE}
RETURNING {_CHANGED}
"""

# What the agent has proposed anew meanwhile stands in the place of it.
_SAME_PENDING = """EXISTS (SELECT FROM proposals o WHERE o.agent_id = p.agent_id AND o.digest = p.digest
    AND o.status = 'pending' AND o.id <> p.id)"""
_REOPEN = f"""
WITH done AS ({proposal_intents.FINISH}), before AS (
    SELECT p.*, {_SAME_PENDING} AS again FROM proposals p
    WHERE p.id IN (SELECT proposal_id FROM done)
        OR p.suggestion_id = ANY(%(suggestion_ids)s) AND p.status IN ('accepted', 'rejected')
        OR p.kind = 'link' AND p.status IN ('accepted', 'rejected') AND EXISTS (
            SELECT FROM proposals first JOIN done ON done.proposal_id = first.id
            WHERE first.review_id = p.review_id AND first.made_id IS NOT DISTINCT FROM p.made_id
                AND first.requirement_id = p.requirement_id AND first.test_case_id = p.test_case_id)
)
UPDATE proposals p SET status = CASE WHEN again THEN 'withdrawn' ELSE 'pending' END, pending_since = %(now)s,
    reviewed_at = NULL, reviewed_by = NULL, feedback = NULL, review_id = NULL, made_id = NULL, suggestion_id = NULL
FROM before WHERE p.id = before.id
RETURNING {_CHANGED}
"""

_END = f"""
UPDATE proposals p SET status = %(status)s, feedback = %(reason)s
WHERE p.id = ANY(%(ids)s) AND {REVIEWABLE}
RETURNING {_CHANGED}
"""

_END_REFUSED = f"""
WITH done AS ({proposal_intents.FINISH})
UPDATE proposals p SET status = %(status)s, feedback = %(reason)s
FROM done WHERE p.id = done.proposal_id AND {PENDING}
RETURNING {_CHANGED}
"""

_LOCK_OF_PAIRS = f"""
SELECT p.id, p.requirement_id, p.test_case_id FROM proposals p
JOIN unnest(%(requirements)s::uuid[], %(test_cases)s::uuid[]) AS pair(requirement_id, test_case_id)
    ON p.requirement_id = pair.requirement_id AND p.test_case_id = pair.test_case_id
WHERE p.kind = 'link' AND {REVIEWABLE} ORDER BY p.id FOR UPDATE OF p
"""

_OF_ITEMS = f"""
SELECT p.id FROM proposals p
WHERE (p.requirement_id = ANY(%(ids)s) OR p.test_case_id = ANY(%(ids)s)) AND {REVIEWABLE} ORDER BY p.id FOR UPDATE
"""

_OLD = "p.created_at < %(before)s AND (p.pending_since IS NULL OR p.pending_since < %(before)s)"
_PROJECTS_WITH_OLD = f"SELECT DISTINCT p.project_id FROM proposals p WHERE {PENDING} AND {_OLD} ORDER BY 1"
_LOCK_OLD = f"""
SELECT p.id FROM proposals p WHERE {_OLD} AND {REVIEWABLE} ORDER BY p.id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
"""


@dataclass(frozen=True, slots=True)
class NewProposal:
    """A proposal that is about to be stored."""

    id: UUID
    kind: str
    requirement_id: UUID | None
    test_case_id: UUID | None
    target: dict[str, Any]
    body: dict[str, Any]
    before: dict[str, Any] | None
    digest: str
    rationale: str
    evidence: list[dict[str, Any]]
    confidence: float | None
    engine_score: float | None
    agent_id: str
    agent_name: str
    owner_id: int | None
    owner_email: str
    client: dict[str, Any] | None
    batch: UUID
    created_at: datetime
    requirement_text_sequence: int | None
    test_case_text_sequence: int | None


@dataclass(frozen=True, slots=True)
class Changed:
    """A proposal that was made, or whose status has changed."""

    id: UUID
    kind: str
    status: str
    requirement_id: UUID | None
    test_case_id: UUID | None
    body: dict[str, Any]
    rationale: str
    agent_id: str
    agent_name: str
    owner_email: str
    client: dict[str, Any] | None
    batch: UUID
    feedback: str | None
    review_id: UUID | None
    made_id: UUID | None
    requirement_title: str | None
    test_case_title: str | None
    requirement_external_id: str | None
    test_case_external_id: str | None


async def lock_agent(connection: Connection, agent_id: str) -> None:
    """Have other proposals of this agent in this project wait: limits count what is there."""
    await connection.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('proposals ' || current_setting('traceline.project', true)"
        " || ' ' || %s, 0))",
        (agent_id,),
    )


async def insert(connection: Connection, proposal: NewProposal) -> Changed | None:
    """Store a new proposal; return None where the agent has the same one pending."""
    values = asdict(proposal)
    for name in ("target", "body", "evidence"):
        values[name] = Jsonb(values[name])
    for name in ("before", "client"):
        values[name] = None if values[name] is None else Jsonb(values[name])
    stored = await fetch_all(connection, Changed, _INSERT, values)
    return stored[0] if stored else None


async def accept(connection: Connection, proposal_id: UUID, made_id: UUID | None) -> list[Changed]:
    """Accept a proposal with an intent, and of a link what others proposed of its pair; return them, it first."""
    accepted = await fetch_all(connection, Changed, _ACCEPT, {"ids": [proposal_id], "made_id": made_id})
    return accepted + await fetch_all(connection, Changed, _ACCEPT_OTHERS, {"ids": [one.id for one in accepted]})


async def follow(connection: Connection, suggestion_ids: Sequence[UUID]) -> list[Changed]:
    """Review the proposals that are attached to suggestions as these were reviewed; return them."""
    return await fetch_all(connection, Changed, _FOLLOW, {"ids": list(suggestion_ids)})


async def reject(connection: Connection, ids: Sequence[UUID], rejection: Rejection) -> list[Changed]:
    """Reject those of the proposals that are pending, and of links what others proposed of their pairs; return them."""
    return await fetch_all(connection, Changed, _REJECT, {**asdict(rejection), "ids": list(ids)})


async def reopen(
    connection: Connection, ids: Collection[UUID], now: datetime, suggestion_ids: Sequence[UUID] = ()
) -> list[Changed]:
    """Have proposals with an intent to undo pending again, and those reviewed with suggestions; return them."""
    parameters = {"ids": list(ids), "suggestion_ids": list(suggestion_ids), "now": now}
    return await fetch_all(connection, Changed, _REOPEN, parameters)


async def retarget(connection: Connection, proposal_id: UUID, target: dict[str, Any], digest: str) -> None:
    """Store what a proposal that is about to be pending again is about now."""
    await connection.execute(
        "UPDATE proposals SET target = %s, digest = %s WHERE id = %s", (Jsonb(target), digest, proposal_id)
    )


async def end(connection: Connection, ids: Collection[UUID], status: str, reason: str | None) -> list[Changed]:
    """Take pending proposals out of the queue without a review; return them."""
    return await fetch_all(connection, Changed, _END, {"ids": list(ids), "status": status, "reason": reason})


async def end_refused(connection: Connection, proposal_id: UUID, status: str, reason: str) -> list[Changed]:
    """Take a proposal with an intent, which catalog has refused for good, out of the queue; return it."""
    parameters = {"ids": [proposal_id], "status": status, "reason": reason}
    return await fetch_all(connection, Changed, _END_REFUSED, parameters)


async def lock_of_pairs(
    connection: Connection, pairs: Sequence[tuple[UUID, UUID]]
) -> dict[tuple[UUID, UUID], list[UUID]]:
    """Lock the reviewable proposals to link these (requirement, test case); return them by pair."""
    cursor = await connection.execute(
        _LOCK_OF_PAIRS, {"requirements": [pair[0] for pair in pairs], "test_cases": [pair[1] for pair in pairs]}
    )
    found: dict[tuple[UUID, UUID], list[UUID]] = {}
    for row in await cursor.fetchall():
        found.setdefault((row["requirement_id"], row["test_case_id"]), []).append(row["id"])
    return found


async def lock_of_items(connection: Connection, ids: Sequence[UUID]) -> list[UUID]:
    """Lock the reviewable proposals about these items; return them."""
    return await fetch_column(connection, _OF_ITEMS, {"ids": list(ids)})


async def projects_with_old(connection: Connection, before: datetime) -> list[str]:
    """Return the projects in which something has been pending since before a moment."""
    return await fetch_column(connection, _PROJECTS_WITH_OLD, {"before": before})


async def lock_old(connection: Connection, before: datetime, limit: int) -> list[UUID]:
    """Lock some proposals that have been pending since before a moment; return them."""
    return await fetch_column(connection, _LOCK_OLD, {"before": before, "limit": limit})

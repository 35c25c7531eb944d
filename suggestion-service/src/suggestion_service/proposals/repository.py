"""SQL of proposals: how they are answered, what they are about, and what people said of the same before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_one, fetch_only, fetch_value
from chassis.web.conditions import Conditions
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page
from suggestion_service.review.item_objects import said, short
from suggestion_service.store import proposals

# What waits is attached to our own suggestion of the pair, if one is pending.
_ATTACHED = """
    LEFT JOIN LATERAL (SELECT id, similarity_score FROM suggestions s
        WHERE p.kind = 'link' AND p.status = 'pending' AND s.requirement_id = p.requirement_id
            AND s.test_case_id = p.test_case_id AND s.status = 'pending') attached ON true
"""
_ITEMS = """
    LEFT JOIN items r ON r.id = p.requirement_id LEFT JOIN items t ON t.id = p.test_case_id
    LEFT JOIN items u ON u.id = CASE WHEN p.kind = 'relation' THEN (p.target ->> 'parent')::uuid END
"""
_JOINED = f"{_ITEMS} {_ATTACHED}"
_FIELDS = (
    "p.id, p.kind, p.status, p.target, p.body, p.rationale, p.evidence, p.confidence,"
    " coalesce(attached.similarity_score, p.engine_score) AS engine_score,"
    " jsonb_build_object('id', p.agent_id, 'name', p.agent_name, 'owner', p.owner_email) AS agent, p.client, p.batch,"
    " p.created_at, p.reviewed_at, p.reviewed_by, p.feedback, p.review_id,"
    " coalesce(attached.id, p.suggestion_id) AS suggestion_id, p.made_id, p.requirement_id, p.test_case_id"
)


def _answer(*, texts: bool, diff: bool = False) -> str:
    requirement, parent, test_case = short("r"), short("u"), short("t")
    if texts:
        requirement, parent = said("r"), said("u")
        test_case = said("t", "preconditions", "steps", "postconditions")
    more = ", p.before -> 'fields' AS before, p.before -> 'differences' AS differences" if diff else ""
    return (
        f"{_FIELDS}{more}, CASE WHEN r.id IS NOT NULL THEN {requirement} END AS requirement,"
        f" CASE WHEN u.id IS NOT NULL THEN {parent} END AS parent,"
        f" CASE WHEN t.id IS NOT NULL THEN {test_case} END AS test_case"
    )


_FIND_ITEM = """
SELECT i.id, i.external_id, i.title, i.text_sequence, i.deleted FROM items i
WHERE i.side = %(side)s AND NOT i.deleted AND (i.id = %(id)s OR i.external_id = %(named)s)
ORDER BY i.id = %(id)s DESC NULLS LAST, i.id LIMIT 1
"""

_LINKED = """
SELECT l.link_id FROM linked_pairs l
WHERE l.requirement_id = %s AND l.test_case_id = %s AND NOT l.deleted ORDER BY l.sequence DESC LIMIT 1
"""

# By suggestion or by proposal, as long as no text is newer than that which was rejected.
_REJECTED = """
SELECT x.reviewed_by, x.reviewed_at, x.feedback FROM (
    SELECT s.reviewed_by, s.reviewed_at, s.feedback, s.requirement_text_sequence, s.test_case_text_sequence
    FROM suggestions s
    WHERE s.requirement_id = %(requirement_id)s AND s.test_case_id = %(test_case_id)s AND s.status = 'rejected'
    UNION ALL
    SELECT p.reviewed_by, p.reviewed_at, p.feedback, p.requirement_text_sequence, p.test_case_text_sequence
    FROM proposals p
    WHERE p.requirement_id = %(requirement_id)s AND p.test_case_id = %(test_case_id)s AND p.status = 'rejected'
        AND p.kind = 'link'
) x
WHERE x.requirement_text_sequence >= %(requirement_sequence)s AND x.test_case_text_sequence >= %(test_case_sequence)s
ORDER BY x.reviewed_at DESC LIMIT 1
"""

_REJECTED_SAME = """
SELECT p.reviewed_by, p.reviewed_at, p.feedback FROM proposals p
WHERE p.digest = %s AND p.status = 'rejected' ORDER BY p.reviewed_at DESC LIMIT 1
"""

_SHARING = """
SELECT i.id, i.external_id, i.title, i.terms FROM (
    SELECT i.id, (SELECT count(*) FROM unnest(%(terms)s::text[]) t WHERE i.terms ? t) AS shared
    FROM items i WHERE i.side = %(side)s AND NOT i.deleted AND i.terms ?| %(terms)s::text[]
    ORDER BY shared DESC, i.id LIMIT %(limit)s
) s JOIN items i ON i.id = s.id ORDER BY s.shared DESC, i.id
"""

_SCORE = """
SELECT s.similarity_score AS score FROM suggestions s
WHERE s.requirement_id = %s AND s.test_case_id = %s AND s.status = 'pending'
"""

_TRACK_RECORD = """
WITH last AS (
    SELECT status FROM proposals WHERE agent_id = %(agent)s AND status IN ('accepted', 'rejected')
    ORDER BY reviewed_at DESC, id LIMIT %(last)s
)
SELECT count(*) AS pending,
    (SELECT count(*) FROM last) AS reviewed, (SELECT count(*) FROM last WHERE status = 'accepted') AS accepted
FROM proposals WHERE agent_id = %(agent)s AND status = 'pending'
"""

_STATES = """
SELECT p.id, p.kind, p.agent_id, p.feedback, p.made_id, p.review_id, p.requirement_id, p.test_case_id, p.body,
    CASE WHEN i.action = 'accept' THEN 'accepting' WHEN i.action = 'undo' THEN 'reopening' ELSE p.status END AS status,
    coalesce(i.reviewer_email, p.reviewed_by) AS by, coalesce(i.created_at, p.reviewed_at) AS at,
    coalesce(p.suggestion_id, (SELECT s.id FROM suggestions s WHERE p.kind = 'link' AND p.status = 'pending'
        AND s.requirement_id = p.requirement_id AND s.test_case_id = p.test_case_id AND s.status = 'pending'))
        AS suggestion_id
FROM proposals p LEFT JOIN proposal_intents i ON i.proposal_id = p.id WHERE p.id = ANY(%s)
"""


@dataclass(frozen=True, slots=True)
class FoundItem:
    """An item that a proposal names."""

    id: UUID
    external_id: str | None
    title: str
    text_sequence: int
    deleted: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """Who said no to a pair, when, and why."""

    reviewed_by: str | None
    reviewed_at: datetime | None
    feedback: str | None


@dataclass(frozen=True, slots=True)
class WithTerms:
    """An item with how often it has which words."""

    id: UUID
    external_id: str | None
    title: str
    terms: dict[str, int]


@dataclass(frozen=True, slots=True)
class TrackRecord:
    """How much of an agent is pending, and what became of the last that people reviewed."""

    pending: int
    reviewed: int
    accepted: int


@dataclass(frozen=True, slots=True)
class State:
    """What has become of a proposal; `accepting` and `reopening` are under way, and `by` is who does it.

    `suggestion_id` is of the suggestion that it is reviewed with, pending or reviewed.
    """

    id: UUID
    kind: str
    agent_id: str
    feedback: str | None
    made_id: UUID | None
    review_id: UUID | None
    requirement_id: UUID | None
    test_case_id: UUID | None
    body: dict[str, object]
    status: str
    by: str | None
    at: datetime | None
    suggestion_id: UUID | None


@dataclass(frozen=True, slots=True)
class _Score:
    score: float


@dataclass(frozen=True, slots=True)
class _Linked:
    link_id: UUID


async def page(
    connection: Connection, conditions: Conditions, wanted: PageRequest, *, texts: bool, diff: bool
) -> Fetched:
    """Return one page of proposals as they are answered, with the items' texts and differences if asked for."""
    return await fetch_page(
        connection, _answer(texts=texts, diff=diff), "proposals p", conditions, wanted, joined=_JOINED
    )


async def get(
    connection: Connection, ids: Sequence[UUID], *, texts: bool = False, diff: bool = False
) -> dict[UUID, Row]:
    """Return those of the proposals that exist, as they are answered."""
    query = f"SELECT {_answer(texts=texts, diff=diff)} FROM proposals p {_JOINED} WHERE p.id = ANY(%s)"
    cursor = await connection.execute(query, (list(ids),))
    return {row["id"]: row for row in await cursor.fetchall()}


async def find_item(connection: Connection, side: str, reference: str) -> FoundItem | None:
    """Return the item of a side with this id or external id; an id comes first."""
    try:
        item_id = UUID(reference)
    except ValueError:
        item_id = None
    return await fetch_one(connection, FoundItem, _FIND_ITEM, {"side": side, "id": item_id, "named": reference})


async def link_of(connection: Connection, requirement_id: UUID, test_case_id: UUID) -> UUID | None:
    """Return the link of a pair, as far as it is known here."""
    found = await fetch_one(connection, _Linked, _LINKED, (requirement_id, test_case_id))
    return None if found is None else found.link_id


async def rejected(connection: Connection, requirement: FoundItem, test_case: FoundItem) -> Rejected | None:
    """Return who rejected that these belong together, since their texts are as they are."""
    return await fetch_one(
        connection,
        Rejected,
        _REJECTED,
        {
            "requirement_id": requirement.id,
            "test_case_id": test_case.id,
            "requirement_sequence": requirement.text_sequence,
            "test_case_sequence": test_case.text_sequence,
        },
    )


async def rejected_same(connection: Connection, digest: str) -> Rejected | None:
    """Return who rejected a proposal that said the same of the same version."""
    return await fetch_one(connection, Rejected, _REJECTED_SAME, (digest,))


async def sharing_terms(connection: Connection, side: str, terms: Sequence[str], limit: int) -> list[WithTerms]:
    """Return the items of a side that share the most of these terms."""
    return await fetch_all(connection, WithTerms, _SHARING, {"side": side, "terms": list(terms), "limit": limit})


async def pending_score(connection: Connection, requirement_id: UUID, test_case_id: UUID) -> float | None:
    """Return the score of our own suggestion of a pair that is pending."""
    found = await fetch_one(connection, _Score, _SCORE, (requirement_id, test_case_id))
    return None if found is None else found.score


async def same_pending(connection: Connection, agent: str, digest: str) -> UUID | None:
    """Return the proposal of an agent that says the same and is pending."""
    cursor = await connection.execute(
        f"SELECT p.id FROM proposals p WHERE p.agent_id = %s AND p.digest = %s AND {proposals.PENDING}", (agent, digest)
    )
    row = await cursor.fetchone()
    return None if row is None else row["id"]


async def track_record(connection: Connection, agent: str, last: int) -> TrackRecord:
    """Return how much of an agent is pending, and what became of its `last` reviewed ones."""
    return await fetch_only(connection, TrackRecord, _TRACK_RECORD, {"agent": agent, "last": last})


async def reviewable(connection: Connection, conditions: Conditions, limit: int) -> tuple[list[UUID], int]:
    """Return the newest proposals that conditions find and that can be reviewed, and how many there are."""
    where = f"FROM proposals p WHERE {proposals.REVIEWABLE}{conditions.also}"
    count = await fetch_value(connection, f"SELECT count(*) {where}", conditions.parameters)
    query = f"SELECT p.id {where} ORDER BY p.created_at DESC, p.id LIMIT %(limit)s"
    return await fetch_column(connection, query, {**conditions.parameters, "limit": limit}), count


async def states(connection: Connection, ids: Sequence[UUID]) -> dict[UUID, State]:
    """Return the states of those of the proposals that exist."""
    return {one.id: one for one in await fetch_all(connection, State, _STATES, (list(ids),))}

"""Table `suggestions`: every transition of a suggestion, and what guards it.

    new ── insert ──> pending ── reject ─────────────────────> rejected ──┐
                      │  ^ ^  └─ intent, link made, accept ──> accepted ──┤
                      │  │ └────────────────── undo intent, reopen ───────┘
                      │  └── bring back ── (withdrawn) expired
                      ├── withdraw: a run scored it below its threshold; expired, and may come back
                      ├── expire: linked directly, too old, or its link was refused
                      └── delete: an item is gone, or the background would not suggest it any more

Rescoring and the adjustment by reviews change a pending suggestion in place.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from chassis.db.database import Connection
from chassis.db.rows import fetch_all, fetch_column, fetch_value
from contracts.suggestion import ReopenedSuggestion, ReviewedSuggestion
from suggestion_service.store import accept_intents, linked_pairs, reviews, undo_intents

PENDING = "s.status = 'pending'"
REVIEWED = "s.status IN ('accepted', 'rejected')"
"""As the index of reviewed suggestions says it: there are few of them beside the queue."""
REVIEWABLE = f"{PENDING} AND {accept_intents.NONE}"
"""Pending, and nobody is accepting it."""

# A pair may be suggested when it is not linked and was not suggested since the text of one of the two changed, nor is
# about to be pending again. What a run has withdrawn counts as never suggested: nobody has decided about it.
# OFFSET 0 has the few pairs of a chunk looked up one by one: joined, whole tables would be read for each chunk.
MAY_BE_SUGGESTED = """
    NOT EXISTS (SELECT FROM linked_pairs l WHERE l.requirement_id = n.requirement_id
                AND l.test_case_id = n.test_case_id AND NOT l.deleted OFFSET 0)
    AND NOT EXISTS (SELECT FROM suggestions s WHERE s.requirement_id = n.requirement_id
                    AND s.test_case_id = n.test_case_id
                    AND (s.status = 'pending'
                         OR EXISTS (SELECT FROM undo_intents u WHERE u.suggestion_id = s.id)
                         OR NOT s.withdrawn AND s.requirement_text_sequence >= n.requirement_text_sequence
                            AND s.test_case_text_sequence >= n.test_case_text_sequence) OFFSET 0)
"""

# A table of the connection: made once, empty again after each transaction.
_STAGE = """
CREATE TEMPORARY TABLE IF NOT EXISTS new_suggestions (requirement_id uuid, test_case_id uuid,
    similarity_score double precision, suggestion_method text, suggestion_metadata jsonb,
    requirement_text_sequence bigint, test_case_text_sequence bigint) ON COMMIT DELETE ROWS
"""

_INSERT = f"""
INSERT INTO suggestions (id, requirement_id, test_case_id, similarity_score, suggestion_method,
    suggestion_metadata, status, created_at, run_id, requirement_text_sequence, test_case_text_sequence)
SELECT gen_random_uuid(), n.requirement_id, n.test_case_id, n.similarity_score, n.suggestion_method,
    n.suggestion_metadata, 'pending', %(now)s, %(run_id)s, n.requirement_text_sequence,
    n.test_case_text_sequence
FROM pg_temp.new_suggestions n
WHERE EXISTS (SELECT FROM items r WHERE r.id = n.requirement_id AND NOT r.deleted OFFSET 0)
    AND EXISTS (SELECT FROM items t WHERE t.id = n.test_case_id AND NOT t.deleted OFFSET 0)
    AND {MAY_BE_SUGGESTED}
ON CONFLICT (requirement_id, test_case_id) WHERE status = 'pending' DO NOTHING
RETURNING requirement_id, test_case_id
"""

# What a run withdrew comes back as the suggestion that it was, but not by the same run: it has looked at the pair.
_LOCK_WITHDRAWN = f"""
SELECT s.id FROM suggestions s WHERE s.id IN (
    SELECT w.id FROM pg_temp.new_suggestions n CROSS JOIN LATERAL (
        SELECT id FROM suggestions w WHERE w.requirement_id = n.requirement_id AND w.test_case_id = n.test_case_id
            AND w.withdrawn AND w.run_id IS DISTINCT FROM %(run_id)s LIMIT 1) w
    WHERE {MAY_BE_SUGGESTED})
ORDER BY s.id FOR UPDATE
"""

_BRING_BACK = """
UPDATE suggestions s SET similarity_score = n.similarity_score, suggestion_method = n.suggestion_method,
    suggestion_reason = NULL, suggestion_metadata = n.suggestion_metadata, status = 'pending',
    created_at = %(now)s, feedback = NULL, run_id = %(run_id)s, withdrawn = false,
    requirement_text_sequence = n.requirement_text_sequence, test_case_text_sequence = n.test_case_text_sequence
FROM pg_temp.new_suggestions n
WHERE s.id = ANY(%(ids)s) AND s.requirement_id = n.requirement_id AND s.test_case_id = n.test_case_id
RETURNING s.requirement_id, s.test_case_id
"""

# Never by a score of an older text, and not those that somebody is accepting.
_RESCORABLE = f"""
    s.id = n.id AND s.requirement_text_sequence <= n.requirement_text_sequence
    AND s.test_case_text_sequence <= n.test_case_text_sequence AND {REVIEWABLE}
"""

_RESCORE = f"""
UPDATE suggestions s SET similarity_score = n.similarity_score, suggestion_method = n.suggestion_method,
    suggestion_reason = NULL, suggestion_metadata = n.suggestion_metadata,
    requirement_text_sequence = n.requirement_text_sequence, test_case_text_sequence = n.test_case_text_sequence,
    run_id = coalesce(%(run_id)s, s.run_id)
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(id uuid, similarity_score double precision, suggestion_method text,
    suggestion_metadata jsonb, requirement_text_sequence bigint,
    test_case_text_sequence bigint)
WHERE {_RESCORABLE}
    AND (s.similarity_score, s.suggestion_method, s.suggestion_metadata,
        s.requirement_text_sequence, s.test_case_text_sequence) IS DISTINCT FROM (n.similarity_score,
        n.suggestion_method, n.suggestion_metadata, n.requirement_text_sequence,
        n.test_case_text_sequence)
"""

_WITHDRAW = f"""
UPDATE suggestions s SET status = 'expired', feedback = n.feedback, withdrawn = true, run_id = %(run_id)s,
    requirement_text_sequence = n.requirement_text_sequence, test_case_text_sequence = n.test_case_text_sequence
FROM jsonb_to_recordset(%(rows)s::jsonb) AS n(id uuid, feedback text, requirement_text_sequence bigint,
    test_case_text_sequence bigint)
WHERE {_RESCORABLE}
"""

_DELETE_BELOW = f"""
DELETE FROM suggestions s
WHERE s.id = ANY(%(ids)s) AND s.run_id IS NULL AND {REVIEWABLE}
    AND (s.similarity_score < %(threshold)s OR s.similarity_score = 0)
"""

# In the order of ids, as everybody locks suggestions.
_DELETE_OF_ITEMS = """
DELETE FROM suggestions WHERE id IN (SELECT id FROM suggestions
    WHERE requirement_id = ANY(%(ids)s) OR test_case_id = ANY(%(ids)s) ORDER BY id FOR UPDATE)
"""

_GONE = "NOT EXISTS (SELECT FROM public.items WHERE items.id = {} AND NOT items.deleted)"
_DELETE_GONE = f"""
DELETE FROM public.suggestions WHERE id IN (
    SELECT s.id FROM public.suggestions s
    WHERE {_GONE.format("s.requirement_id")} OR {_GONE.format("s.test_case_id")}
    ORDER BY s.id FOR UPDATE)
"""

_ADJUST = f"""
UPDATE suggestions s SET review_adjustment = n.adjustment, review_evidence = n.because
FROM jsonb_to_recordset(%s::jsonb) AS n(id uuid, adjustment double precision, because jsonb)
WHERE s.id = n.id AND {PENDING}
"""

# Those that somebody is reviewing are let be: waiting for them here could be waiting for one another.
_GROUP = f"""
UPDATE suggestions s SET variant_group = n.variant_group
FROM jsonb_to_recordset(%s::jsonb) AS n(id uuid, variant_group text)
WHERE s.id = n.id AND {PENDING}
    AND s.id IN (SELECT id FROM suggestions WHERE id = ANY(%s) ORDER BY id FOR UPDATE SKIP LOCKED)
"""

# Not those that are being accepted: the event of an accepted suggestion's link comes while it is being finished.
_LOCK_PAIRS = f"""
SELECT s.id, s.requirement_id, s.test_case_id FROM suggestions s
JOIN unnest(%(requirements)s::uuid[], %(test_cases)s::uuid[]) AS pair(requirement_id, test_case_id)
    ON s.requirement_id = pair.requirement_id AND s.test_case_id = pair.test_case_id
WHERE {REVIEWABLE} ORDER BY s.id FOR UPDATE OF s
"""

_EXPIRE = f"""
UPDATE suggestions s SET status = 'expired', feedback = %(reason)s
WHERE s.id = ANY(%(ids)s) AND {REVIEWABLE}
RETURNING s.id
"""

_OLD = f"""s.created_at < %(before)s AND (s.pending_since IS NULL OR s.pending_since < %(before)s) AND {REVIEWABLE}"""

# A look at an index a project, however many have something.
_PROJECTS_WITH_OLD = f"""
SELECT h.project_id FROM corpus_head h
WHERE EXISTS (SELECT FROM suggestions s WHERE s.project_id = h.project_id AND {_OLD}) ORDER BY h.project_id
"""

_EXPIRE_OLD = f"""
UPDATE suggestions s SET status = 'expired', feedback = %(reason)s
WHERE s.id IN (SELECT id FROM suggestions s WHERE {_OLD} ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    AND {REVIEWABLE}
RETURNING s.id
"""

_EXPIRE_REFUSED = f"""
WITH done AS ({accept_intents.FINISH_ONE})
UPDATE suggestions s SET status = 'expired', feedback = %(reason)s
FROM done WHERE s.id = done.suggestion_id AND {PENDING}
"""

_NAMED_PAIR = (
    "s.id, s.requirement_id, s.test_case_id, r.title AS requirement_title, t.title AS test_case_title,"
    " r.external_id AS requirement_external_id, t.external_id AS test_case_external_id, s.similarity_score, s.status,"
    " s.link_id, s.review_id"
)
_AS_REVIEWED = f"{_NAMED_PAIR}, s.suggestion_method, s.feedback"

# The text that was reviewed is the text as it is now: only a later one makes the pair worth suggesting again.
_REJECT = f"""
WITH rejected AS (
    UPDATE suggestions s SET status = 'rejected', reviewed_at = %(now)s, reviewed_by = left(%(email)s, 100),
        feedback = %(feedback)s, review_id = %(review_id)s, requirement_text_sequence = r.text_sequence,
        test_case_text_sequence = t.text_sequence
    FROM items r, items t
    WHERE s.id = ANY(%(ids)s) AND r.id = s.requirement_id AND t.id = s.test_case_id AND {REVIEWABLE}
    RETURNING {_AS_REVIEWED}
), noted AS ({reviews.note("reject", "SELECT id FROM rejected")})
SELECT * FROM rejected
"""

# The link exists, so the suggestion is accepted, whatever happened to it meanwhile.
_ACCEPT = f"""
WITH made AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(links)s::uuid[]) AS m(suggestion_id, link_id)
), done AS ({accept_intents.FINISH_MADE})
UPDATE suggestions s SET status = 'accepted', reviewed_at = done.created_at,
    reviewed_by = left(done.reviewer_email, 100), feedback = done.feedback, link_id = done.made_link_id,
    review_id = done.review_id,
    requirement_text_sequence = r.text_sequence, test_case_text_sequence = t.text_sequence
FROM done, items r, items t
WHERE s.id = done.suggestion_id AND r.id = s.requirement_id AND t.id = s.test_case_id
RETURNING {_AS_REVIEWED}
"""

_REOPEN = f"""
WITH done AS ({undo_intents.FINISH}), before AS (
    SELECT {_NAMED_PAIR}, s.reviewed_by, s.reviewed_at,
        s.requirement_text_sequence < r.text_sequence OR s.test_case_text_sequence < t.text_sequence
        OR EXISTS (SELECT FROM runs WHERE status IN ('running', 'completed')
                   AND (finished_at IS NULL OR finished_at > s.reviewed_at)) AS outdated
    FROM suggestions s JOIN done ON done.suggestion_id = s.id
    JOIN items r ON r.id = s.requirement_id JOIN items t ON t.id = s.test_case_id
), reopened AS (
    UPDATE suggestions s SET status = 'pending', reviewed_at = NULL, reviewed_by = NULL, feedback = NULL,
        link_id = NULL, review_id = NULL, pending_since = %(now)s
    FROM before WHERE s.id = before.id
), undone AS ({reviews.undo("SELECT review_id FROM before")})
SELECT * FROM before
"""


class Reopened(ReopenedSuggestion):
    """A suggestion that is pending again, as it was reviewed; `outdated`: its score may not be today's."""

    outdated: bool


@dataclass(frozen=True, slots=True)
class Rejection:
    """What is stored with each suggestion, or proposal, that is rejected."""

    review_id: UUID
    email: str
    feedback: str | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Adjusted:
    """What reviews say of a suggestion, in log-odds, and which of them; None where they say nothing."""

    id: UUID
    adjustment: float | None = None
    because: list[dict[str, Any]] | None = None


async def any_pending(connection: Connection) -> bool:
    """Check whether any suggestion is pending."""
    return bool(await fetch_value(connection, f"SELECT EXISTS (SELECT FROM suggestions s WHERE {PENDING})"))


async def lock(connection: Connection, ids: Sequence[UUID]) -> None:
    """Lock those of the suggestions that exist, before anything that belongs to them."""
    await connection.execute("SELECT FROM suggestions WHERE id = ANY(%s) ORDER BY id FOR UPDATE", (list(ids),))


async def lock_pairs(connection: Connection, pairs: Sequence[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], UUID]:
    """Lock the reviewable suggestions of these (requirement, test case); return them by pair."""
    cursor = await connection.execute(
        _LOCK_PAIRS, {"requirements": [pair[0] for pair in pairs], "test_cases": [pair[1] for pair in pairs]}
    )
    return {(row["requirement_id"], row["test_case_id"]): row["id"] for row in await cursor.fetchall()}


async def stage(connection: Connection, rows: bytes) -> None:
    """Bring new suggestions (lines of COPY, see `proposals`) to where `insert` finds them in the same transaction."""
    await connection.execute(_STAGE)
    async with connection.cursor().copy("COPY pg_temp.new_suggestions FROM STDIN") as copy:
        await copy.write(rows)


async def insert(connection: Connection, run_id: UUID | None, now: datetime) -> list[tuple[UUID, UUID]]:
    """Store what was staged, but not of pairs that may not be suggested any more; return the pairs.

    What runs have withdrawn of them is pending again. The corpus must be locked.
    """
    parameters = {"run_id": run_id, "now": now}
    # Planned each time: the table grows under it.
    cursor = await connection.execute(_LOCK_WITHDRAWN, parameters, prepare=False)
    back = [row["id"] for row in await cursor.fetchall()]
    stored = []
    if back:
        cursor = await connection.execute(_BRING_BACK, {**parameters, "ids": back}, prepare=False)
        stored = await cursor.fetchall()
    cursor = await connection.execute(_INSERT, parameters, prepare=False)
    stored += await cursor.fetchall()
    return [(row["requirement_id"], row["test_case_id"]) for row in stored]


async def rescore(connection: Connection, ids: Sequence[UUID], rows: str, run_id: UUID | None = None) -> int:
    """Store new scores of pending suggestions (a JSON array), but not those that are being accepted.

    Returns how many that changed; it locks all of them. Those become this run's.
    """
    await lock(connection, ids)
    return (await connection.execute(_RESCORE, {"rows": rows, "run_id": run_id})).rowcount


async def withdraw(connection: Connection, ids: Sequence[UUID], rows: str, run_id: UUID) -> int:
    """Expire pending suggestions as this run's, with the feedback of each (a JSON array), to come back some day.

    Not those that are being accepted. Returns how many; it locks all of them.
    """
    await lock(connection, ids)
    return (await connection.execute(_WITHDRAW, {"rows": rows, "run_id": run_id})).rowcount


async def delete_below(connection: Connection, ids: Sequence[UUID], threshold: float) -> int:
    """Delete those of the suggestions that the background made and would not make now; return how many.

    Deleted, not expired: nobody has decided about the pair, so it may be suggested again. They must be locked.
    """
    return (await connection.execute(_DELETE_BELOW, {"ids": list(ids), "threshold": threshold})).rowcount


async def delete_of_items(connection: Connection, item_ids: Sequence[UUID]) -> None:
    """Delete the suggestions of items that are deleted."""
    await connection.execute(_DELETE_OF_ITEMS, {"ids": item_ids})


async def delete_gone(connection: Connection) -> int:
    """Delete the suggestions of items that are not in the real copy, beside which there is a temporary one."""
    return (await connection.execute(_DELETE_GONE)).rowcount


async def adjust(connection: Connection, rows: Sequence[Adjusted]) -> None:
    """Store what reviews say of pending suggestions."""
    await lock(connection, [row.id for row in rows])
    await connection.execute(_ADJUST, (orjson.dumps(rows).decode(),))


async def group(connection: Connection, groups: Mapping[UUID, str | None]) -> None:
    """Store the group of variants that each of these pending suggestions is in, None where it is in none."""
    rows = orjson.dumps([{"id": one, "variant_group": name} for one, name in groups.items()]).decode()
    await connection.execute(_GROUP, (rows, list(groups)))


async def reject(connection: Connection, ids: Sequence[UUID], rejection: Rejection) -> list[ReviewedSuggestion]:
    """Reject those of the suggestions that are reviewable; return them."""
    # By a statement of its own: the next one then sees an acceptance that began meanwhile.
    await lock(connection, ids)
    return await fetch_all(connection, ReviewedSuggestion, _REJECT, {**asdict(rejection), "ids": list(ids)})


async def accept(connection: Connection, links: Sequence[tuple[UUID, UUID]]) -> list[ReviewedSuggestion]:
    """Accept the suggestions of these (suggestion, link) that have an intent; return those."""
    await lock(connection, [suggestion_id for suggestion_id, _ in links])
    made = {"ids": [suggestion_id for suggestion_id, _ in links], "links": [link_id for _, link_id in links]}
    return await fetch_all(connection, ReviewedSuggestion, _ACCEPT, made)


async def expire(connection: Connection, ids: Collection[UUID], reason: str) -> list[UUID]:
    """Expire those of the suggestions that are reviewable; they must be locked."""
    return await fetch_column(connection, _EXPIRE, {"ids": list(ids), "reason": reason})


async def projects_with_old(connection: Connection, before: datetime) -> list[str]:
    """Return the projects of which `expire_old` would expire something; those that the connection sees."""
    return await fetch_column(connection, _PROJECTS_WITH_OLD, {"before": before})


async def expire_old(connection: Connection, before: datetime, reason: str, limit: int) -> list[UUID]:
    """Expire up to `limit` suggestions that were made before then and are still pending."""
    return await fetch_column(connection, _EXPIRE_OLD, {"before": before, "reason": reason, "limit": limit})


async def expire_refused(connection: Connection, suggestion_id: UUID, reason: str) -> bool:
    """Expire a suggestion whose link was refused; return whether it was still pending."""
    await lock(connection, [suggestion_id])
    return (await connection.execute(_EXPIRE_REFUSED, {"id": suggestion_id, "reason": reason})).rowcount > 0


async def reopen(connection: Connection, ids: Sequence[UUID], email: str, now: datetime) -> list[Reopened]:
    """Have the suggestions of undo intents pending again; return those that nobody else had reopened.

    The corpus must be locked: events take the tables in another order.
    """
    await linked_pairs.bury(connection, ids)
    await lock(connection, ids)
    return await fetch_all(connection, Reopened, _REOPEN, {"ids": list(ids), "email": email, "now": now})

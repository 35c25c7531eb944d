"""SQL that brings the copy to what its rebuilt tables say. Only what differs is written, and followed in memory."""

from collections.abc import Mapping

from chassis.db.database import Connection
from chassis.messaging.rebuild import Reach, replace

_COMPARED = ("side", "external_id", "title", "module", "tags", "priority", "text", "terms", "sequence", "deleted")
_SCORED = ("text", "module", "tags", "priority")


def _row(alias: str, columns: tuple[str, ...]) -> str:
    return f"({', '.join(f'{alias}.{column}' for column in columns)})"


# The place of a text that was right stays: a later one would bring back suggestions that people have rejected. How
# far it lies before that of the item's last event depends on how events came together.
_PUT_ITEMS = f"""
WITH wrong AS (
    SELECT fresh.*, CASE
            WHEN kept.id IS NULL OR kept.text_sequence > fresh.sequence THEN fresh.text_sequence
            WHEN kept.text = fresh.text THEN kept.text_sequence
            ELSE greatest(kept.text_sequence, fresh.text_sequence) END AS right_text_sequence,
        NOT fresh.deleted AND (kept.id IS NULL OR kept.deleted
            OR {_row("kept", _SCORED)} IS DISTINCT FROM {_row("fresh", _SCORED)}) AS to_score
    FROM pg_temp.items fresh LEFT JOIN public.items kept ON kept.id = fresh.id
    WHERE kept.id IS NULL OR NOT (kept.deleted AND fresh.deleted)
        AND ({_row("kept", _COMPARED)} IS DISTINCT FROM {_row("fresh", _COMPARED)}
             OR kept.text_sequence > fresh.sequence)
), queued AS (
    INSERT INTO public.scoring_queue (item_id, sequence, actor_id, actor_email, correlation_id)
    SELECT q.item_id, q.sequence, q.actor_id, q.actor_email, q.correlation_id
    FROM pg_temp.scoring_queue q JOIN wrong ON wrong.id = q.item_id AND wrong.to_score
    ON CONFLICT (item_id) DO UPDATE SET sequence = excluded.sequence, actor_id = excluded.actor_id,
        actor_email = excluded.actor_email, correlation_id = excluded.correlation_id, due_at = excluded.due_at,
        attempts = 0
)
INSERT INTO public.items (id, side, external_id, title, module, tags, priority, text, terms, text_sequence, sequence,
    change, deleted, actor_id, actor_email, correlation_id)
SELECT id, side, external_id, title, module, tags, priority, text, terms, right_text_sequence, sequence,
    %(change)s, deleted, actor_id, actor_email, correlation_id
FROM wrong
ON CONFLICT (id) DO UPDATE SET side = excluded.side, external_id = excluded.external_id, title = excluded.title,
    module = excluded.module, tags = excluded.tags, priority = excluded.priority, text = excluded.text,
    terms = excluded.terms, text_sequence = excluded.text_sequence, sequence = excluded.sequence,
    change = excluded.change, deleted = excluded.deleted, actor_id = excluded.actor_id,
    actor_email = excluded.actor_email, correlation_id = excluded.correlation_id
"""

# A tombstone, not nothing: workers that have the item in memory see changes only.
_ENTOMB_UNKNOWN = """
UPDATE public.items kept SET text = '{{}}', terms = '{{}}', change = %(change)s, deleted = true
WHERE NOT kept.deleted AND {covered} AND NOT EXISTS (SELECT FROM pg_temp.items fresh WHERE fresh.id = kept.id)
"""

_GONE = "NOT EXISTS (SELECT FROM public.items WHERE items.id = {column} AND NOT items.deleted)"

_FORGET_QUEUED = f"DELETE FROM public.scoring_queue WHERE {_GONE.format(column='item_id')}"

# In the order of ids, as everybody locks suggestions.
_DELETE_SUGGESTIONS = f"""
DELETE FROM public.suggestions WHERE id IN (
    SELECT s.id FROM public.suggestions s
    WHERE {_GONE.format(column="s.requirement_id")} OR {_GONE.format(column="s.test_case_id")}
    ORDER BY s.id FOR UPDATE)
"""


async def prepare(connection: Connection) -> None:
    """Give the temporary corpus a head to count from."""
    await connection.execute("INSERT INTO pg_temp.corpus_head VALUES (true, 0)")


async def merge(connection: Connection, reach: Reach) -> Mapping[str, int]:
    """Put items and linked pairs right; queue items whose text differs, delete suggestions of items that are gone."""
    cursor = await connection.execute("SELECT head FROM public.corpus_head FOR UPDATE")
    row = await cursor.fetchone()
    assert row is not None, "the migration puts the one row there"
    change = {"change": row["head"] + 1}
    put = await connection.execute(_PUT_ITEMS, change)
    unknown = await connection.execute(_ENTOMB_UNKNOWN.format(covered=reach.covers("kept.sequence")), change)
    links = await replace(connection, "linked_pairs", "link_id", reach)
    items = put.rowcount + unknown.rowcount
    if items or links:
        await connection.execute("UPDATE public.corpus_head SET head = %(change)s", change)
    await connection.execute(_FORGET_QUEUED)
    suggestions = await connection.execute(_DELETE_SUGGESTIONS)
    return {"items": items, "linked_pairs": links, "suggestions": suggestions.rowcount}

"""The SQL of applying: rows of the plan, whether the record is as it says, and how far an import is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Json

from catalog_service.exchange.applying import event_sql
from catalog_service.exchange.applying.job import Counts, Job
from catalog_service.exchange.applying.steps import STEPS, Step
from catalog_service.items.kinds import KINDS, REQUIREMENT
from chassis.db import isolation
from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_value

_COMPARED = {
    **{kind.name: (kind.table, [name for name in kind.columns if not name.endswith("_at")]) for kind in KINDS},
    "link": ("links", ("link_type", "link_source", "confidence_score", "notes")),
    "relation": ("requirement_relations", ("relation_type", "role", "notes")),
}

_AT = "%(moment)s::timestamptz + position * interval '1 microsecond'"
"""When a row is applied: each has a moment of its own, in the order of the file."""


class Place(NamedTuple):
    """How far an import is: the steps before `step` are done, and of it the rows up to position `after`."""

    step: int
    after: int


FIRST = Place(0, -1)
CHANGING = "('create', 'update', 'delete', 'wait')"
"""The actions that change the record."""
NOT_COUNTED = ("revision", "reference")
"""Kinds of rows that no plan counts."""
JOINING = ("link", "relation")
"""Kinds of rows that join two items."""
LAST = 2**31 - 1
"""No position is beyond it."""


async def lock_job(connection: Connection, job_id: UUID) -> None:
    """Let nobody else apply this import until the transaction ends; others may read and change the job."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('import:' || %s::text, 0))", (job_id,))


async def find_taken(connection: Connection, job: Job, kind: str, after: int, last: int) -> list[int]:
    """Return the positions of new items whose key an item of the record has by now; other imports wait to look.

    No constraint holds the keys that mappings name, as one holds external ids.
    """
    table, _ = _COMPARED[kind]
    key, theirs = (", ".join(f"{alias}.{name}" for name in job.key) for alias in ("said", "item"))
    await connection.execute(
        f"SELECT pg_advisory_xact_lock(hashtextextended('import keys:' || current_setting('{isolation.SETTING}'), 0))"
    )
    return await fetch_column(
        connection,
        f"""
        SELECT position FROM import_rows
        CROSS JOIN LATERAL json_to_record(fields) AS said (id text, external_id text, {" text, ".join(job.key)} text)
        WHERE job_id = %s AND kind = %s AND action = 'create' AND position > %s AND position <= %s
            AND said.id IS NULL AND said.external_id IS NULL AND said.{job.key[0]} IS NOT NULL
            AND json_build_array({key})::text IN (SELECT json_build_array({theirs})::text FROM {table} AS item)
        """,
        (job.id, kind, after, last),
    )


async def put_off(connection: Connection) -> None:
    """Leave search documents of the transaction to the worker, and references that wait to the end of the import."""
    await connection.execute(
        "SELECT set_config('traceline.search_later', 'on', true), set_config('traceline.references_later', 'on', true)"
    )


async def read_place(connection: Connection, job_id: UUID) -> Place | None:
    """Return how far an import is, None when it is applied."""
    cursor = await connection.execute(
        "SELECT applied_at, applied_step, applied_up_to FROM import_jobs WHERE id = %s", (job_id,)
    )
    row = await cursor.fetchone()
    assert row is not None, "jobs stay"
    if row["applied_at"] is not None:
        return None
    return Place(row["applied_step"] - 1, row["applied_up_to"]) if row["applied_step"] else FIRST


async def read_made_levels(connection: Connection, job_id: UUID) -> list[dict[str, Any]]:
    """Return the levels that an import makes, as it was planned."""
    query = "SELECT summary -> 'levels' FROM import_jobs WHERE id = %s"
    return await fetch_value(connection, query, (job_id,)) or []


async def save_place(connection: Connection, job_id: UUID, place: Place) -> None:
    """Store how far an import is."""
    await connection.execute(
        "UPDATE import_jobs SET applied_step = %s, applied_up_to = %s WHERE id = %s",
        (place.step + 1, place.after, job_id),
    )


async def finish(connection: Connection, job_id: UUID, now: datetime, *, search_ready: bool) -> None:
    """Store that an import is applied."""
    await connection.execute(
        "UPDATE import_jobs SET applied_at = %s, search_ready = %s WHERE id = %s", (now, search_ready, job_id)
    )


async def keep_document(connection: Connection, job_id: UUID, now: datetime) -> None:
    """Keep what the file holds beside its rows; what another import has left already becomes the newest."""
    await connection.execute(
        """
        WITH found AS (SELECT job_id, document FROM import_documents WHERE job_id = %(job)s), known AS (
            UPDATE reqif_schemas s SET created_at = %(now)s FROM found
            WHERE md5(s.document::text) = md5(found.document::text) RETURNING s.job_id
        )
        INSERT INTO reqif_schemas (job_id, document, created_at)
        SELECT job_id, document, %(now)s FROM found WHERE NOT EXISTS (SELECT FROM known)
        ON CONFLICT DO NOTHING
        """,
        {"job": job_id, "now": now},
    )
    await connection.execute("DELETE FROM import_documents WHERE job_id = %s", (job_id,))


async def read_batches(
    connection: Connection, job_id: UUID, most: int
) -> tuple[dict[tuple[str, str | None], int], dict[tuple[str, str | None], list[int]]]:
    """Return how many rows of each (kind, action) there are, and where each of their batches of at most `most` ends.

    What is not planned has no action. A batch ends with the position of its last row.
    """
    cursor = await connection.execute(
        """
        SELECT kind, action, count(*) AS rows, max(position) AS last
        FROM import_rows WHERE job_id = %(job)s GROUP BY kind, action, position / %(most)s ORDER BY last
        """,
        {"job": job_id, "most": most},
    )
    rows: Counter[tuple[str, str | None]] = Counter()
    sizes: dict[tuple[str, str | None], int] = {}
    ends: dict[tuple[str, str | None], list[int]] = {}
    for block in await cursor.fetchall():
        key = block["kind"], block["action"]
        rows[key] += block["rows"]
        sizes[key] = sizes.get(key, most) + block["rows"]
        if sizes[key] <= most:
            ends[key][-1] = block["last"]
        else:
            sizes[key] = block["rows"]
            ends.setdefault(key, []).append(block["last"])
    return rows, ends


async def count_applied(connection: Connection, job_id: UUID, place: Place) -> Counts:
    """Return how many rows of each kind and action are applied when an import is at a place."""
    done = {(step.kind, step.action) for step in STEPS[: place.step]}
    begun = STEPS[place.step] if place.step < len(STEPS) else None
    cursor = await connection.execute(
        "SELECT kind, action, count(*) AS rows, count(*) FILTER (WHERE position <= %s) AS before"
        " FROM import_rows WHERE job_id = %s AND kind <> ALL(%s) GROUP BY kind, action",
        (place.after, job_id, list(NOT_COUNTED)),
    )
    counts: Counts = {}
    for row in await cursor.fetchall():
        key = row["kind"], row["action"]
        rows = row["rows"] if key in done else row["before"] if begun and key == (begun.kind, begun.action) else 0
        if rows:
            counts.setdefault(row["kind"], {})[row["action"]] = rows
    return counts


async def leave_out(connection: Connection, job_id: UUID, place: Place) -> int:
    """Store that what comes after a place is not applied; return how many rows that are."""
    done = [f"{step.kind}/{step.action}" for step in STEPS[: place.step]]
    begun = STEPS[place.step] if place.step < len(STEPS) else None
    cursor = await connection.execute(
        f"""
        UPDATE import_rows SET action = 'conflict', code = 'not_applied', problems = %(problems)s
        WHERE job_id = %(job)s AND kind <> ALL(%(not_counted)s) AND action IN {CHANGING}
            AND NOT kind || '/' || action = ANY(%(done)s)
            AND NOT (kind || '/' || action = %(begun)s AND position <= %(after)s)
        """,
        {
            "job": job_id,
            "not_counted": list(NOT_COUNTED),
            "done": done,
            "begun": begun and f"{begun.kind}/{begun.action}",
            "after": place.after,
            "problems": Json([_LEFT_OUT]),
        },
    )
    return cursor.rowcount


async def lock_changed(
    connection: Connection, job: Job, kind: str, actions: Sequence[str], after: int, last: int
) -> list[int]:
    """Lock what rows of these actions change or delete, in one order; return the positions of those that are outdated.

    Their target is not there; or, where changes are refused, it has another version or another value of a field that
    they change than the plan was made for.
    """
    table, columns = _COMPARED[kind]
    rows = """
        job_id = %(job)s AND kind = %(kind)s AND action = ANY(%(actions)s) AND import_rows.position > %(after)s
            AND import_rows.position <= %(last)s
    """
    parameters = {
        "job": job.id,
        "kind": kind,
        "actions": list(actions),
        "after": after,
        "last": last,
        "refuses": job.refuses_changes,
        "planned_at": job.planned_at,
    }
    lock = "FOR UPDATE" if "delete" in actions else "FOR NO KEY UPDATE"
    await connection.execute(
        # By an array, so that a table without statistics of this project is looked up and not read again and again.
        f"SELECT FROM {table} WHERE id = ANY(ARRAY(SELECT target_id FROM import_rows WHERE {rows})) ORDER BY id {lock}",
        parameters,
    )
    if kind in JOINING:
        is_other = "action = 'delete' AND item.updated_at > %(planned_at)s"
    else:
        is_other = "item.version <> target_version"
        if "delete" in actions:
            await connection.execute(
                f"SELECT FROM links WHERE {kind}_id = ANY(ARRAY(SELECT target_id FROM import_rows WHERE {rows}"
                " AND action = 'delete')) ORDER BY id FOR UPDATE",
                parameters,
            )
            if kind == REQUIREMENT.name:
                await connection.execute(
                    f"""
                    WITH gone AS MATERIALIZED (SELECT target_id FROM import_rows WHERE {rows} AND action = 'delete')
                    SELECT FROM requirement_relations WHERE child_id IN (SELECT target_id FROM gone)
                        OR parent_id IN (SELECT target_id FROM gone) ORDER BY id FOR UPDATE
                    """,
                    parameters,
                )
    # A statement of its own, which sees what has been waited for.
    return await fetch_column(
        connection,
        f"""
        SELECT import_rows.position FROM import_rows LEFT JOIN {table} AS item ON item.id = target_id
        WHERE {rows} AND (item.id IS NULL OR %(refuses)s AND ({is_other} OR EXISTS (
            SELECT FROM json_each(changes) AS one, {event_sql.state(columns, "item")} AS present(said)
            WHERE said -> one.key IS NOT NULL
                AND (said -> one.key)::jsonb IS DISTINCT FROM (one.value -> 'before')::jsonb)))
        """,
        parameters,
    )


async def count_unlike(connection: Connection, job_id: UUID, kind: str) -> int:
    """Return how many rows that would change nothing were planned for another version of their item."""
    table, _ = _COMPARED[kind]
    unlike: int = await fetch_value(
        connection,
        f"""
        SELECT count(*) FROM import_rows LEFT JOIN {table} AS item ON item.id = target_id
        WHERE job_id = %s AND kind = %s AND action = 'unchanged'
            AND (item.id IS NULL OR item.version <> target_version)
        """,
        (job_id, kind),
    )
    return unlike


async def do(
    connection: Connection, step: Step, job: Job, parameters: Mapping[str, Any], after: int, last: int
) -> list[int]:
    """Apply the rows of a step after one position up to another; return the positions of those that could not be."""
    cursor = await connection.execute(
        f"""
        WITH batch AS (
            SELECT position, row, sheet, target_id, fields, changes, at, {event_sql.moment("at")} AS time
            FROM import_rows CROSS JOIN LATERAL (SELECT {_AT}) AS applied (at)
            WHERE job_id = %(job)s AND kind = %(kind)s AND action = %(action)s
                AND position > %(after)s AND position <= %(last)s
            ORDER BY position
        ), {step.statement(job)}
        """,
        {**parameters, "job": job.id, "kind": step.kind, "action": step.action, "after": after, "last": last},
    )
    row = await cursor.fetchone()
    assert row is not None, "an aggregate gives one row"
    return row["refused"] or []


async def set_aside(connection: Connection, job_id: UUID, positions: Sequence[int]) -> None:
    """Store that rows are not applied, since what they change is not what the plan was made for."""
    await connection.execute(
        "UPDATE import_rows SET action = 'conflict', code = 'record_changed', problems = %s"
        " WHERE job_id = %s AND position = ANY(%s)",
        (Json([_CHANGED]), job_id, list(positions)),
    )


_LEFT_OUT = {
    "code": "not_applied",
    "message": "The import ended before its turn; import the refused rows, which can be had as CSV, or the file again.",
}
_CHANGED = {
    "code": "record_changed",
    "message": "Somebody has changed this in the record since the import was planned; import the file again.",
}

"""Which relation each row of a file is, and what becomes of it; none may close a circle."""

from itertools import zip_longest
from uuid import UUID

from catalog_service.exchange.planning.items import NEW_ID
from catalog_service.exchange.planning.links import LONGEST_KEY
from catalog_service.relations.circles import find_circles, find_way
from catalog_service.relations.repository import parents_above
from catalog_service.relations.service import MOST_PARENTS
from catalog_service.values import ROLLING_TYPES
from chassis.db.database import Connection

_ENDS = ("child", "parent")
_MOST_PATHS = 100
"""So many rows are told their circle item by item."""

CREATE_TABLE = """
CREATE TEMP TABLE plan_relations (
    position integer PRIMARY KEY, row integer, given text[], child_id uuid, parent_id uuid,
    child_key text, parent_key text, own_id uuid, target_id uuid,
    action text, code text, detail text, changes json
) ON COMMIT DROP
"""


def match(*, restoring: bool) -> str:
    """Return the statement that puts the rows of relations into their plan, each with its requirements."""
    joins = "".join(
        f"""
        LEFT JOIN plan_ends {end}_end ON {end}_end.kind = 'requirement' AND {end}_end.key = f.{end}_key
        LEFT JOIN requirements {end}_by_id ON {end}_end.id IS NULL AND {end}_by_id.id = f.{end}_id
        LEFT JOIN requirements {end}_by_name ON {end}_end.id IS NULL AND f.{end}_id IS NULL
            AND {end}_by_name.external_id = f.{end}_external_id
        """
        for end in _ENDS
    )
    keys = ", ".join(
        f"""
        (r.fields #>> '{{{end},id}}')::uuid AS {end}_id, r.fields #>> '{{{end},external_id}}' AS {end}_external_id,
        coalesce('i' || (r.fields #>> '{{{end},id}}')::uuid, 'e' || (r.fields #>> '{{{end},external_id}}')) AS {end}_key
        """
        for end in _ENDS
    )
    found = ", ".join(f"coalesce({end}_end.id, {end}_by_id.id, {end}_by_name.id)" for end in _ENDS)
    own = "(f.fields ->> 'id')::uuid" if restoring else "NULL::uuid"
    return f"""
    INSERT INTO plan_relations (position, row, given, child_id, parent_id, child_key, parent_key, own_id)
    SELECT DISTINCT ON (f.position) f.position, f.row, f.given, {found}, f.child_external_id, f.parent_external_id,
        {own}
    FROM (
        SELECT r.position, r.row, r.given, r.fields, {keys}
        FROM import_rows r WHERE r.job_id = %(job)s AND r.kind = 'relation' AND r.action IS DISTINCT FROM 'error'
    ) f {joins}
    ORDER BY f.position
    """


JUDGE = f"""
UPDATE plan_relations SET action = verdict.action, code = verdict.code, target_id = verdict.relation_id,
    changes = verdict.changes, detail = verdict.first_row::text
FROM (
    SELECT p.position, n.id AS relation_id, numbered.first_row,
        CASE WHEN is_same OR is_missing AND NOT can_wait THEN 'error'
             WHEN numbered.number > 1 THEN 'skip'
             WHEN is_missing THEN 'wait'
             WHEN n.id IS NULL AND other.id IS NOT NULL THEN 'conflict'
             WHEN n.id IS NULL THEN 'create'
             WHEN p.own_id <> n.id THEN 'conflict'
             WHEN differs.changes IS NULL THEN 'unchanged'
             ELSE 'update' END AS action,
        CASE WHEN is_same THEN 'same_item'
             WHEN p.child_id IS NULL AND NOT can_wait THEN 'child_not_found'
             WHEN p.parent_id IS NULL AND NOT can_wait THEN 'parent_not_found'
             WHEN numbered.number > 1 THEN 'duplicate_in_file'
             WHEN is_missing THEN 'reference_waiting'
             WHEN n.id IS NULL AND other.id IS NOT NULL OR p.own_id <> n.id THEN 'relation_exists' END AS code,
        differs.changes
    FROM plan_relations p
    JOIN import_rows r ON r.job_id = %(job)s AND r.position = p.position
    JOIN (
        SELECT position, row_number() OVER pair AS number, first_value(row) OVER pair AS first_row FROM plan_relations
        WINDOW pair AS (PARTITION BY coalesce(child_id::text, 'e' || child_key),
            coalesce(parent_id::text, 'e' || parent_key) ORDER BY position)
    ) numbered ON numbered.position = p.position
    CROSS JOIN LATERAL (
        SELECT p.child_id IS NULL OR p.parent_id IS NULL AS is_missing,
            coalesce(p.child_id = p.parent_id, p.child_key = p.parent_key, false) AS is_same,
            -- What waits belongs to the child, and waits for the key of the parent.
            (%(waits)s AND length(p.parent_key) BETWEEN 1 AND {LONGEST_KEY}
                AND (p.child_id IS NOT NULL OR length(p.child_key) BETWEEN 1 AND {LONGEST_KEY})) IS TRUE AS can_wait
    ) AS found
    LEFT JOIN requirement_relations n ON n.child_id = p.child_id AND n.parent_id = p.parent_id
    LEFT JOIN requirement_relations other ON other.id = p.own_id AND n.id IS NULL
    LEFT JOIN LATERAL (
        SELECT json_object_agg(field, json_build_object('before', before, 'after', after)) AS changes
        FROM (VALUES ('relation_type', n.relation_type, r.fields ->> 'relation_type'),
                     ('role', n.role, r.fields ->> 'role'), ('notes', n.notes, r.fields ->> 'notes'))
            AS pair (field, before, after)
        WHERE n.id IS NOT NULL AND field = ANY(p.given) AND before IS DISTINCT FROM after
    ) differs ON true
) verdict
WHERE plan_relations.position = verdict.position
"""

REFUSE_MANY = f"""
UPDATE plan_relations p SET action = 'error', code = 'too_many_parents'
FROM (
    SELECT position, row_number() OVER (PARTITION BY child_id ORDER BY position) AS number, child_id
    FROM plan_relations WHERE action = 'create'
) AS new
WHERE new.position = p.position AND new.number + (
    SELECT count(*) FROM requirement_relations n WHERE n.child_id = new.child_id) > {MOST_PARENTS}
"""

_NEW = f"""
SELECT p.position, p.child_id, p.parent_id FROM plan_relations p
JOIN import_rows r ON r.job_id = %(job)s AND r.position = p.position
WHERE p.action IN ('create', 'update')
    AND CASE p.action WHEN 'create' THEN r.fields ->> 'relation_type'
        ELSE p.changes #>> '{{relation_type,after}}' END IN {ROLLING_TYPES}
ORDER BY p.position
"""


async def refuse_circles(connection: Connection, job_id: UUID) -> None:
    """Refuse the rows that close a circle, by themselves or with relations that are there."""
    rows = await (await connection.execute(_NEW, {"job": job_id})).fetchall()
    if not rows:
        return
    parents = await parents_above(connection, list({row["parent_id"] for row in rows}))
    for row in rows:
        parents.setdefault(row["child_id"], []).append(row["parent_id"])
    closing = find_circles(parents)
    refused = [row for row in rows if (row["child_id"], row["parent_id"]) in closing]
    told = refused[:_MOST_PATHS]
    ways = [find_way(parents, row["parent_id"], row["child_id"]) or [] for row in told]
    names = await _names_of(connection, list({one for way in ways for one in way}))
    circles = [(row["child_id"], *way) for row, way in zip(told, ways, strict=True)]
    paths = [" → ".join(names.get(one, str(one)) for one in circle) for circle in circles]
    for row, path in zip_longest(refused, paths):
        await connection.execute(
            "UPDATE plan_relations SET action = 'error', code = 'relation_cycle', detail = %s WHERE position = %s",
            (path, row["position"]),
        )


async def _names_of(connection: Connection, ids: list[UUID]) -> dict[UUID, str]:
    cursor = await connection.execute(
        "SELECT id, external_id AS name FROM requirements WHERE id = ANY(%(ids)s) AND external_id IS NOT NULL"
        " UNION ALL SELECT id, substr(key, 2) FROM plan_ends WHERE id = ANY(%(ids)s) AND left(key, 1) = 'e'",
        {"ids": ids},
    )
    return {row["id"]: row["name"] for row in await cursor.fetchall()}


def _missing(end: str) -> str:
    return f"""'There is no requirement ' || coalesce(
        'with the external_id ' || quote_literal(left(r.fields #>> '{{{end},external_id}}', 100)),
        'with the id ' || (r.fields #>> '{{{end},id}}')) || ', neither in the record nor in the file.'"""


STORE = f"""
UPDATE import_rows r SET action = p.action, code = coalesce(p.code, r.code), changes = p.changes,
    warnings = CASE p.action WHEN 'wait' THEN (
        coalesce(r.warnings::jsonb, '[]')
        || CASE WHEN p.child_id IS NULL THEN jsonb_build_array(jsonb_build_object(
            'name', 'child', 'code', 'child_not_found', 'message', {_missing("child")})) ELSE '[]' END
        || CASE WHEN p.parent_id IS NULL THEN jsonb_build_array(jsonb_build_object(
            'name', 'parent', 'code', 'parent_not_found', 'message', {_missing("parent")})) ELSE '[]' END
        || jsonb_build_array(jsonb_build_object(
            'name', CASE WHEN p.child_id IS NULL THEN 'child' ELSE 'parent' END, 'code', p.code,
            'message', 'The reference waits, and becomes a relation when the requirement comes.')))::json
        ELSE r.warnings END,
    target_id = CASE WHEN p.action IN ('create', 'wait')
        THEN coalesce(p.own_id, {NEW_ID.replace("position", "r.position")}) ELSE p.target_id END,
    fields = (r.fields::jsonb || jsonb_build_object('child_id', p.child_id, 'parent_id', p.parent_id))::json,
    problems = CASE WHEN p.action IN ('error', 'conflict') THEN json_build_array(json_build_object(
        'name', CASE p.code WHEN 'child_not_found' THEN 'child' WHEN 'relation_exists' THEN NULL ELSE 'parent' END,
        'code', p.code, 'message', CASE p.code
            WHEN 'child_not_found' THEN {_missing("child")}
            WHEN 'parent_not_found' THEN {_missing("parent")}
            WHEN 'same_item' THEN 'A requirement cannot be its own parent.'
            WHEN 'too_many_parents' THEN 'A requirement has at most {MOST_PARENTS} parents.'
            WHEN 'relation_cycle' THEN 'This closes a circle' || coalesce(': ' || p.detail, '')
                || '. Take one of its relations out of the file, or delete one of the record.'
            ELSE 'Another relation joins these two requirements already.' END)) ELSE r.problems END
FROM plan_relations p
WHERE r.job_id = %(job)s AND r.position = p.position
"""

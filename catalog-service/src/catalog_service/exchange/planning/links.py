"""Which link each row of a file is, and what becomes of it; and the links that the file does not have any more."""

from catalog_service.exchange.planning.items import NEW_ID, copy_id
from catalog_service.items.kinds import KINDS, ItemKind

LONGEST_KEY = 100
"""Of the external_id of an item: nothing that is longer can come."""

CREATE_TABLES = """
CREATE TEMP TABLE plan_ends (kind text, key text, id uuid) ON COMMIT DROP;
CREATE TEMP TABLE plan_links (
    position integer PRIMARY KEY, row integer, given text[], is_refused boolean, requirement_id uuid, test_case_id uuid,
    requirement_key text, test_case_key text, own_id uuid, target_id uuid,
    action text, code text, detail text, changes json
) ON COMMIT DROP
"""

FIND_ENDS = f"""
INSERT INTO plan_ends
SELECT kind, key, target_id FROM (
    SELECT position, kind, unnest(ARRAY['i' || file_id, 'e' || coalesce(assigned, external_id)]) AS key,
        CASE WHEN action = 'create' THEN coalesce(target_id, {NEW_ID}) ELSE target_id END AS target_id
    FROM plan WHERE action = 'create' OR target_version IS NOT NULL
) ends WHERE key IS NOT NULL AND target_id IS NOT NULL
"""


def match(*, restoring: bool) -> str:
    """Return the statement that puts the rows of links into their plan, each with its ends and the link there is."""
    joins = "".join(
        f"""
        LEFT JOIN plan_ends {kind.name}_end ON {kind.name}_end.kind = '{kind.name}'
            AND {kind.name}_end.key = f.{kind.name}_key
        LEFT JOIN {kind.table} {kind.name}_by_id ON {kind.name}_end.id IS NULL
            AND left(f.{kind.name}_key, 1) = 'i' AND {kind.name}_by_id.id = f.{kind.name}_id
        LEFT JOIN {kind.table} {kind.name}_by_name ON {kind.name}_end.id IS NULL
            AND left(f.{kind.name}_key, 1) = 'e' AND {kind.name}_by_name.external_id = f.{kind.name}_external_id
        """
        for kind in KINDS
    )
    keys = ", ".join(
        f"""
        (r.fields #>> '{{{kind.name},id}}')::uuid AS {kind.name}_id,
        r.fields #>> '{{{kind.name},external_id}}' AS {kind.name}_external_id,
        coalesce('i' || (r.fields #>> '{{{kind.name},id}}')::uuid, 'e' || (r.fields #>> '{{{kind.name},external_id}}'))
            AS {kind.name}_key
        """
        for kind in KINDS
    )
    found = {kind.name: f"coalesce({kind.name}_end.id, {kind.name}_by_id.id, {kind.name}_by_name.id)" for kind in KINDS}
    own = "(f.fields ->> 'id')::uuid" if restoring else "NULL::uuid"
    return f"""
    INSERT INTO plan_links (
        position, row, given, is_refused, requirement_id, test_case_id, requirement_key, test_case_key, own_id
    )
    SELECT DISTINCT ON (f.position) f.position, f.row, f.given, f.is_refused, {found["requirement"]},
        {found["test_case"]}, f.requirement_external_id, f.test_case_external_id, {own}
    FROM (
        SELECT r.position, r.row, r.given, r.fields, false AS is_refused, {keys}
        FROM import_rows r WHERE r.job_id = %(job)s AND r.kind = 'link' AND r.action IS DISTINCT FROM 'error'
    ) f {joins}
    ORDER BY f.position
    """


def find_copies(kind: ItemKind) -> str:
    """Return the statement that finds the ends that have ids of another record: what became of them here."""
    return f"""
    UPDATE plan_links p SET {kind.name}_id = coalesce(
        (SELECT id FROM {kind.table}
         WHERE id = {copy_id(f"(r.fields #>> '{{{kind.name},id}}')::uuid::text")}),
        (SELECT id FROM {kind.table} WHERE external_id = r.fields #>> '{{{kind.name},external_id}}'))
    FROM import_rows r
    WHERE r.job_id = %(job)s AND r.position = p.position AND p.{kind.name}_id IS NULL AND NOT p.is_refused
        AND r.fields #>> '{{{kind.name},id}}' IS NOT NULL
    """


REFUSE = """
INSERT INTO plan_links (position, row, given, is_refused, action)
SELECT position, row, given, true, 'error' FROM import_rows
WHERE job_id = %(job)s AND kind = 'link' AND action = 'error'
"""

_ENDS = ", ".join(f"coalesce({kind.name}_id::text, 'e' || {kind.name}_key)" for kind in KINDS)
_CAN_WAIT = " AND ".join(
    f"(p.{kind.name}_id IS NOT NULL OR length(p.{kind.name}_key) BETWEEN 1 AND {LONGEST_KEY})" for kind in KINDS
)
JUDGE = f"""
UPDATE plan_links SET action = verdict.action, code = verdict.code, target_id = verdict.link_id,
    changes = verdict.changes, detail = verdict.first_row::text
FROM (
    SELECT p.position, l.id AS link_id, numbered.first_row,
        CASE WHEN is_missing AND NOT can_wait THEN 'error'
             WHEN numbered.number > 1 THEN 'skip'
             WHEN is_missing THEN 'wait'
             WHEN l.id IS NULL AND other.id IS NOT NULL THEN 'conflict'
             WHEN l.id IS NULL THEN 'create'
             WHEN p.own_id <> l.id THEN 'conflict'
             WHEN differs.changes IS NULL THEN 'unchanged'
             ELSE 'update' END AS action,
        CASE WHEN p.requirement_id IS NULL AND NOT can_wait THEN 'requirement_not_found'
             WHEN p.test_case_id IS NULL AND NOT can_wait THEN 'test_case_not_found'
             WHEN numbered.number > 1 THEN 'duplicate_in_file'
             WHEN is_missing THEN 'reference_waiting'
             WHEN l.id IS NULL AND other.id IS NOT NULL OR p.own_id <> l.id THEN 'link_exists' END AS code,
        differs.changes
    FROM plan_links p
    JOIN import_rows r ON r.job_id = %(job)s AND r.position = p.position
    JOIN (
        SELECT position, row_number() OVER pair AS number, first_value(row) OVER pair AS first_row FROM plan_links
        WINDOW pair AS (PARTITION BY {_ENDS} ORDER BY position)
    ) numbered ON numbered.position = p.position
    CROSS JOIN LATERAL (
        SELECT p.requirement_id IS NULL OR p.test_case_id IS NULL AS is_missing,
            (%(waits)s AND {_CAN_WAIT}) IS TRUE AS can_wait
    ) AS found
    LEFT JOIN links l ON l.requirement_id = p.requirement_id AND l.test_case_id = p.test_case_id
    LEFT JOIN links other ON other.id = p.own_id AND l.id IS NULL
    LEFT JOIN LATERAL (
        SELECT json_object_agg(field, json_build_object('before', before, 'after', after)) AS changes
        FROM (VALUES ('link_type', l.link_type, r.fields ->> 'link_type'), ('notes', l.notes, r.fields ->> 'notes'))
            AS pair (field, before, after)
        WHERE l.id IS NOT NULL AND field = ANY(p.given) AND before IS DISTINCT FROM after
    ) differs ON true
    WHERE NOT p.is_refused
) verdict
WHERE plan_links.position = verdict.position
"""

_WAITS = " || ".join(
    f"""CASE WHEN p.{kind.name}_id IS NULL THEN 'There is no {kind.label} with the external_id '
        || quote_literal(p.{kind.name}_key) || ', neither in the record nor in the file. ' ELSE '' END"""
    for kind in KINDS
)
STORE = f"""
UPDATE import_rows r SET action = p.action, code = coalesce(p.code, r.code), changes = p.changes,
    warnings = CASE p.action WHEN 'wait' THEN (coalesce(r.warnings::jsonb, '[]') || jsonb_build_array(
        jsonb_build_object(
            'name', CASE WHEN p.requirement_id IS NULL THEN 'requirement' ELSE 'test_case' END, 'code', p.code,
            'message', {_WAITS} || 'The reference waits, and becomes a link when it comes.')))::json
        ELSE r.warnings END,
    target_id = CASE WHEN p.action IN ('create', 'wait') THEN coalesce(p.own_id, NEW_ID) ELSE p.target_id END,
    fields = (r.fields::jsonb || jsonb_build_object('requirement_id', p.requirement_id, 'test_case_id', p.test_case_id)
        )::json,
    problems = CASE WHEN p.action IN ('error', 'conflict') THEN json_build_array(json_build_object(
        'name', CASE p.code WHEN 'requirement_not_found' THEN 'requirement' WHEN 'test_case_not_found' THEN 'test_case'
                END,
        'code', p.code, 'message', CASE p.code
            WHEN 'requirement_not_found' THEN 'There is no requirement ' || coalesce(
                'with the external_id ' || quote_literal(left(r.fields #>> '{{requirement,external_id}}', 60)),
                'with the id ' || (r.fields #>> '{{requirement,id}}')) || ', neither in the record nor in the file.'
            WHEN 'test_case_not_found' THEN 'There is no test case ' || coalesce(
                'with the external_id ' || quote_literal(left(r.fields #>> '{{test_case,external_id}}', 60)),
                'with the id ' || (r.fields #>> '{{test_case,id}}')) || ', neither in the record nor in the file.'
            ELSE 'This pair is linked by another link already.' END)) ELSE r.problems END
FROM plan_links p
WHERE r.job_id = %(job)s AND r.position = p.position AND NOT p.is_refused
""".replace("NEW_ID", NEW_ID.replace("position", "r.position"))

REMOVE_OTHERS = """
INSERT INTO import_rows (job_id, position, kind, fields, action, target_id)
SELECT %(job)s, %(last)s + row_number() OVER (ORDER BY l.id), 'link',
    json_build_object('requirement_id', l.requirement_id, 'test_case_id', l.test_case_id, 'link_type', l.link_type),
    'delete', l.id
FROM links l
WHERE l.link_source = 'imported' AND l.confirmed_at IS NULL
    AND NOT EXISTS (
        SELECT FROM plan_links p WHERE p.requirement_id = l.requirement_id AND p.test_case_id = l.test_case_id)
    AND NOT EXISTS (SELECT FROM plan_links WHERE action = 'error')
    AND CASE WHEN EXISTS (SELECT FROM plan) THEN
            EXISTS (SELECT FROM plan WHERE target_id = l.requirement_id AND target_version IS NOT NULL)
            OR EXISTS (SELECT FROM plan WHERE target_id = l.test_case_id AND target_version IS NOT NULL)
        ELSE EXISTS (SELECT FROM plan_links p WHERE p.requirement_id = l.requirement_id)
            AND EXISTS (SELECT FROM plan_links p WHERE p.test_case_id = l.test_case_id) END
"""

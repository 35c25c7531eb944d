"""Which item each row of a file is, and what becomes of it: SQL over all rows of a kind at once."""

from dataclasses import dataclass

from catalog_service.exchange.uuids import UUID, uuid_of
from catalog_service.items.kinds import ItemKind

_KEYS = ("title", "module", "source_url", "source_system", "type", "priority", "status", "description")
"""Fields by which a mapping may have items found, beside external_id."""
_OURS = frozenset({"id", "version", "created_at", "updated_at", "position"})
_UUID = f"^{UUID}$"

NEW_ID = uuid_of("""
    left(md5(%(job)s::text), 4) || lpad(to_hex(position), 8, '0') || substr(md5(%(job)s::text || ':' || position), 13)
""")
"""The id of what a row becomes: the same however often the file is read.

Those of a file are in the order of its rows: indexes take neighbours in half the time of ids from all over.
"""


def copy_id(their_id: str) -> str:
    """Return the SQL of the id of what an item of another record becomes here if it has no external_id.

    By it the item is found again. `their_id` is the SQL of its id there, in lower case.
    """
    return uuid_of(f"md5(%(project)s::text || {their_id})")


CREATE_TABLE = """
CREATE TEMP TABLE plan (
    position integer PRIMARY KEY, row integer, kind text, file_id uuid, copy_id uuid, external_id text,
    version integer, given text[], is_refused boolean, is_incomplete boolean, has_key boolean, identity text,
    target_id uuid, target_version integer, other_source text, holder uuid, is_ambiguous boolean,
    was_deleted timestamptz, action text, code text, detail text, changes json, assigned text,
    missing boolean DEFAULT false
) ON COMMIT DROP
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """How rows of items are judged."""

    key: tuple[str, ...] = ()
    restoring: bool = False
    adopt: bool = False
    recreate: bool = False


def usable_key(fields: list[str]) -> tuple[str, ...]:
    """Return the fields of a mapping's key by which items are found where a row has no external_id."""
    return tuple(name for name in fields if name in _KEYS)


def match(kind: ItemKind, rules: Rules) -> str:
    """Return the statement that puts the rows of a kind into the plan: the item that each is, what becomes of it."""
    names = {"id", "external_id", "source_system", *rules.key}
    columns = ", ".join(f"{name} text" for name in sorted(names))
    keys = ", ".join(f"f.{name}" for name in rules.key)
    has_key = " AND ".join(f"f.{name} IS NOT NULL" for name in rules.key[:1]) or "false"
    key = f"CASE WHEN {has_key} THEN json_build_array({keys})::text END" if rules.key else "NULL::text"
    by_key = of_key = ""
    if rules.key:
        theirs = ", ".join(rules.key)
        by_key = f"""
        LEFT JOIN (
            SELECT json_build_array({theirs})::text AS key, (array_agg(id))[1] AS id,
                (array_agg(version))[1] AS version, count(*) AS number
            FROM {kind.table} GROUP BY 1
        ) c ON r.file_id IS NULL AND r.external_id IS NULL AND c.key = r.key
        """
        of_key = ", c.id"
    # A restore knows no items but those of the file's ids.
    others = "" if rules.restoring else f", o.id, b.id, i.id{of_key}"
    target = f"coalesce(a.id{others})"
    version = f"coalesce(a.version{others.replace('.id', '.version')})"
    return f"""
    INSERT INTO plan (position, row, kind, file_id, copy_id, external_id, version, given, is_refused, is_incomplete,
        has_key, identity, target_id, target_version, other_source, holder, is_ambiguous, was_deleted, action, code)
    SELECT position, row, '{kind.name}', file_id, copy_id, external_id, version, given, is_refused, is_incomplete,
        has_key, identity, CASE WHEN NOT is_ambiguous THEN target_id END,
        CASE WHEN NOT is_ambiguous THEN target_version END, other_source, holder, is_ambiguous, was_deleted,
        {_verdict(rules)}
    FROM (SELECT r.position, r.row, r.file_id, r.copy_id, r.external_id, r.version, r.given, r.is_refused,
        r.is_incomplete,
        coalesce(r.file_id::text, r.external_id, r.key) IS NOT NULL AS has_key,
        coalesce({target}::text, r.file_id::text, 'e' || r.external_id, 'k' || r.key) AS identity,
        {target} AS target_id, {version} AS target_version,
        CASE WHEN a.id IS NULL AND o.id IS NULL
                  AND coalesce(b.source_system, i.source_system) IS DISTINCT FROM r.source_system
                  AND r.source_system IS NOT NULL
             THEN coalesce(b.source_system, i.source_system, '') END AS other_source,
        CASE WHEN b.id <> {target} THEN b.id WHEN {target} IS NULL THEN b.id END AS holder,
        {"coalesce(c.number > 1 AND a.id IS NULL AND b.id IS NULL, false)" if rules.key else "false"} AS is_ambiguous,
        d.deleted_at AS was_deleted
    FROM (
        SELECT r.position, r.row, r.version, r.given, r.action = 'error' IS TRUE AS is_refused,
            r.problems IS NOT NULL AS is_incomplete, f.external_id, f.source_system,
            CASE WHEN lower(f.id) ~ '{_UUID}' THEN f.id::uuid END AS file_id,
            CASE WHEN lower(f.id) ~ '{_UUID}' THEN {copy_id("lower(f.id)")} END AS copy_id, {key} AS key,
            CASE WHEN %(is_reqif)s THEN r.fields #>> '{{custom_metadata,reqif,identifier}}' END AS identifier
        FROM import_rows r CROSS JOIN LATERAL json_to_record(r.fields) AS f ({columns})
        WHERE r.job_id = %(job)s AND r.kind = '{kind.name}'
    ) r
    LEFT JOIN {kind.table} a ON a.id = r.file_id
    LEFT JOIN {kind.table} o ON a.id IS NULL AND o.id = r.copy_id
    LEFT JOIN {kind.table} b ON b.external_id = r.external_id
    -- An object has its IDENTIFIER for an external_id until the file calls it something else.
    LEFT JOIN {kind.table} i ON %(is_reqif)s AND b.id IS NULL AND i.external_id = %(prefix)s || r.identifier
        AND i.custom_metadata #>> '{{reqif,identifier}}' = r.identifier
    {by_key}
    LEFT JOIN LATERAL (
        SELECT max(deleted_at) AS deleted_at FROM deleted_items d
        WHERE d.kind = '{kind.name}' AND {target} IS NULL
            AND (d.id IN (r.file_id, r.copy_id)
                OR d.external_id IN (r.external_id, %(prefix)s || r.identifier))
    ) d ON %(has_deleted)s
    ) matched
    """


def _new_without(kind: ItemKind) -> str:
    """Return the condition of rows that become items of a kind and have no value of the field `key`."""
    return f"""
        r.job_id = %(job)s AND p.position = r.position AND p.action = 'create' AND p.kind = '{kind.name}'
        AND coalesce(r.fields #>> ARRAY['custom_metadata', 'fields', %(key)s::text], '') = ''
    """


def refuse_without(kind: ItemKind) -> str:
    """Return the statement that refuses new items of a kind that lack a required field."""
    return f"""
    WITH refused AS (
        UPDATE plan p SET action = 'error', code = 'missing' FROM import_rows r WHERE {_new_without(kind)}
        RETURNING p.position
    )
    UPDATE import_rows SET problems = (coalesce(problems::jsonb, '[]') || jsonb_build_array(jsonb_build_object(
        'name', 'field.' || %(key)s::text, 'code', 'missing', 'message', %(message)s::text)))::json
    FROM refused WHERE job_id = %(job)s AND import_rows.position = refused.position
    """


def count_without(kind: ItemKind) -> str:
    """Return the query of the new items of a kind that lack a field."""
    return f"SELECT FROM import_rows r, plan p WHERE {_new_without(kind)}"


def fill(kind: ItemKind) -> str:
    """Return the statement that gives new items the `defaults` of fields that they lack, and no blank value."""
    values = (
        "(%(defaults)s::jsonb || coalesce(jsonb_strip_nulls((r.fields #> '{custom_metadata,fields}')::jsonb), '{}'))"
    )
    metadata = f"""
        coalesce(nullif(r.fields::jsonb -> 'custom_metadata', 'null'), '{{}}') - 'fields'
        || CASE WHEN {values} = '{{}}' THEN '{{}}' ELSE jsonb_build_object('fields', {values}) END
    """
    return f"""
    UPDATE import_rows r SET fields = (
        r.fields::jsonb || jsonb_build_object('custom_metadata', nullif({metadata}, '{{}}')))::json
    FROM plan p
    WHERE r.job_id = %(job)s AND p.position = r.position AND p.action = 'create' AND p.kind = '{kind.name}'
        AND (%(defaults)s::jsonb <> '{{}}' OR r.fields #> '{{custom_metadata,fields}}' IS NOT NULL)
    """


def refuse_unknown_levels() -> str:
    """Return the statement that refuses requirements of a level that is not among `known`; `message` goes behind it."""
    return """
    WITH refused AS (
        UPDATE plan p SET action = 'error', code = 'unknown_level' FROM import_rows r
        WHERE r.job_id = %(job)s AND p.position = r.position AND p.kind = 'requirement'
            AND p.action IN ('create', 'update') AND r.fields ->> 'level' IS NOT NULL
            AND r.fields ->> 'level' <> ALL(%(known)s)
        RETURNING p.position, r.fields ->> 'level' AS level
    )
    UPDATE import_rows SET problems = (coalesce(problems::jsonb, '[]') || jsonb_build_array(jsonb_build_object(
        'name', 'level', 'code', 'unknown_level', 'value', level,
        'message', quote_literal(level) || %(message)s)))::json
    FROM refused WHERE job_id = %(job)s AND import_rows.position = refused.position
    """


def refuse_duplicates() -> str:
    """Return the statement that refuses all but the first row of an item."""
    return """
    UPDATE plan SET action = 'error', code = 'duplicate_in_file', detail = first_row::text
    FROM (
        SELECT position, CASE WHEN by_identity > 1 THEN of_identity ELSE of_external_id END AS first_row
        FROM (
            SELECT position, identity, external_id,
                row_number() OVER same AS by_identity, first_value(row) OVER same AS of_identity,
                row_number() OVER named AS by_external_id, first_value(row) OVER named AS of_external_id
            FROM plan
            -- Most files have none, and to find that out takes no order.
            WHERE (kind, identity) IN (SELECT kind, identity FROM plan GROUP BY 1, 2 HAVING count(*) > 1)
                OR (kind, external_id) IN (SELECT kind, external_id FROM plan GROUP BY 1, 2 HAVING count(*) > 1)
            WINDOW same AS (PARTITION BY kind, identity ORDER BY position),
                named AS (PARTITION BY kind, external_id ORDER BY position)
        ) numbered
        WHERE identity IS NOT NULL AND by_identity > 1 OR external_id IS NOT NULL AND by_external_id > 1
    ) duplicate
    WHERE plan.position = duplicate.position AND NOT is_refused
    """


def _verdict(rules: Rules) -> str:
    """Return the SQL of what becomes of a matched row, but whether it changes the item that is there, and why."""
    other = "false" if rules.adopt or rules.restoring else "other_source IS NOT NULL"
    deleted = "false" if rules.recreate or rules.restoring else "was_deleted IS NOT NULL"
    return f"""
        CASE WHEN is_refused THEN 'error'
             WHEN is_ambiguous OR holder IS NOT NULL OR target_id IS NOT NULL AND {other} THEN 'conflict'
             WHEN target_id IS NOT NULL THEN 'update'
             WHEN {deleted} THEN 'skip'
             WHEN is_incomplete THEN 'error'
             ELSE 'create' END AS action,
        CASE WHEN is_refused THEN NULL
             WHEN is_ambiguous THEN 'ambiguous_key'
             WHEN holder IS NOT NULL THEN 'external_id_taken'
             WHEN target_id IS NOT NULL AND {other} THEN 'other_source'
             WHEN target_id IS NOT NULL THEN NULL
             WHEN {deleted} THEN 'was_deleted'
             WHEN is_incomplete THEN 'missing'
             WHEN NOT has_key THEN 'no_key' END AS code
    """


def leave_unchanged(kind: ItemKind, *, restoring: bool) -> str:
    """Return the statement that finds the rows that say what the record says: a comparison of columns, no more."""
    names = [name for name in kind.columns if restoring or name not in _OURS]
    same = " AND ".join(
        f"(NOT {_is_given(name, restoring=restoring)} OR {_compared(kind, 'n', name)} IS NOT DISTINCT FROM"
        f" {_compared(kind, 't', name)})"
        for name in names
    )
    return f"""
    UPDATE plan SET action = 'unchanged' WHERE position IN (
        SELECT plan.position
        FROM plan JOIN import_rows r ON r.job_id = %(job)s AND r.position = plan.position
        JOIN {kind.table} t ON t.id = plan.target_id
        -- What is refused may be more than a column takes.
        CROSS JOIN LATERAL json_populate_record(
            NULL::{kind.table}, CASE plan.action WHEN 'update' THEN r.fields END) n
        WHERE plan.action = 'update' AND plan.kind = '{kind.name}' AND {same})
    """


def changed(kind: ItemKind) -> str:
    """Return the query of the rows that may change an item: `place`, `fields`, `given`, and the item."""
    return f"""
    SELECT plan.position AS place, r.fields, r.given, {", ".join(f"t.{name}" for name in kind.columns)}
    FROM plan JOIN import_rows r ON r.job_id = %(job)s AND r.position = plan.position
    JOIN {kind.table} t ON t.id = plan.target_id
    WHERE plan.action = 'update' AND plan.kind = '{kind.name}' ORDER BY plan.position
    """


def _is_given(name: str, *, restoring: bool) -> str:
    return "true" if restoring else f"'{name}' = ANY(plan.given)"


def _compared(kind: ItemKind, alias: str, name: str) -> str:
    # As text: of two numbers 1 and 1.0, JSONB says that they are equal.
    return f"{alias}.{name}::jsonb::text" if name in kind.json_columns else f"{alias}.{name}"

"""Writes the plan of items to import_rows: what becomes of each row, and why it is refused or left out."""

from catalog_service.exchange.planning.items import NEW_ID

_MESSAGES = """
CASE p.code
    WHEN 'duplicate_in_file' THEN
        'The same item is in row ' || coalesce(p.detail, '?') || ' already; only that one counts.'
    WHEN 'ambiguous_key' THEN 'Several items of the record have this key; give the row an external_id, or choose a key'
        || ' that only one has.'
    WHEN 'external_id_taken' THEN 'Another item of the record has this external_id: id ' || p.holder || '.'
    WHEN 'other_source' THEN 'The item of this external_id is from '
        || CASE p.other_source WHEN '' THEN 'no source system'
           ELSE 'the source system ' || quote_literal(p.other_source) END
        || '; import with adopt=true to take it over.'
    WHEN 'changed_since_export' THEN 'The item has version ' || p.target_version || ' here and ' || p.version
        || ' in the file: somebody changed it since it was exported. Export it again, or import with'
        || ' on_conflict=overwrite.'
    WHEN 'already_there' THEN 'The item is there already, and is not as in the file; a restore is for an empty'
        || ' installation, or import with on_conflict=overwrite.'
END
"""
_WARNINGS = """
CASE p.code
    WHEN 'no_key' THEN 'The row has no key: the same file again would create it again. assign_external_id gives it one.'
    WHEN 'was_deleted' THEN 'The item was deleted here on ' || to_char(p.was_deleted, 'YYYY-MM-DD')
        || '; deleted=recreate brings it back.'
END
"""
_REMARK = "jsonb_build_array(jsonb_build_object('name', 'external_id', 'code', p.code, 'message', {0}))"

STORE = f"""
UPDATE import_rows r SET action = p.action, code = coalesce(p.code, r.code), target_version = p.target_version,
    target_id = CASE WHEN p.action = 'create' THEN coalesce(p.target_id, {NEW_ID.replace("position", "r.position")})
                ELSE p.target_id END,
    changes = p.changes,
    fields = CASE WHEN p.assigned IS NULL THEN r.fields
        -- The first member of an item, and null: see validation.
        ELSE ('{{"external_id":' || to_json(p.assigned) || substr(r.fields::text, length('{{"external_id":null') + 1)
             )::json END,
    problems = CASE WHEN p.action NOT IN ('conflict', 'error', 'skip') THEN NULL
        WHEN {_MESSAGES} IS NOT NULL THEN {_REMARK.format(_MESSAGES)}::json
        WHEN p.action = 'error' THEN r.problems END,
    warnings = CASE WHEN {_WARNINGS} IS NULL THEN r.warnings
        ELSE (coalesce(r.warnings::jsonb, '[]') || {_REMARK.format(_WARNINGS)})::json END
FROM plan p WHERE r.job_id = %(job)s AND r.position = p.position AND NOT p.is_refused
"""

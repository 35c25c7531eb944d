"""The whole schema of a database as text, to be compared with that of another."""

import psycopg

_EVERYTHING = """
WITH tables AS (
    SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'c' AND NOT relispartition
)
SELECT 'column ' || attrelid::regclass || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod),
    CASE WHEN attnotnull THEN 'NOT NULL' END, attidentity, attstorage, nullif(attcollation, 0)::regcollation,
    pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))
FROM pg_attribute JOIN tables ON tables.oid = attrelid LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
WHERE relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'relation ' || oid::regclass, concat_ws(' ', relkind, relpersistence, reloptions, relrowsecurity,
    relforcerowsecurity, obj_description(oid, 'pg_class'), pg_get_partkeydef(oid),
    (SELECT string_agg(one::text, ' ' ORDER BY one::text) FROM unnest(relacl) AS one))
FROM tables
UNION ALL SELECT 'constraint ' || conrelid::regclass || '.' || conname, pg_get_constraintdef(pg_constraint.oid)
FROM pg_constraint JOIN tables ON tables.oid = conrelid
UNION ALL SELECT 'index ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
FROM pg_index JOIN tables ON tables.oid = indrelid
UNION ALL SELECT 'trigger ' || tgrelid::regclass || '.' || tgname, concat_ws(' ', tgenabled,
    pg_get_triggerdef(pg_trigger.oid))
FROM pg_trigger JOIN tables ON tables.oid = tgrelid WHERE NOT tgisinternal
UNION ALL SELECT 'policy ' || tablename || '.' || policyname, concat_ws(' ', permissive, roles, cmd, qual, with_check)
FROM pg_policies JOIN tables ON tables.relname = tablename WHERE schemaname = 'public'
UNION ALL SELECT 'function ' || oid::regprocedure, concat_ws(' ', pg_get_functiondef(oid), proacl)
FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
UNION ALL SELECT 'words ' || cfgname, (SELECT string_agg(concat_ws(' ', maptokentype, mapdict::regdictionary), ', '
    ORDER BY maptokentype, mapseqno) FROM pg_ts_config_map WHERE mapcfg = pg_ts_config.oid)
FROM pg_ts_config WHERE cfgnamespace = 'public'::regnamespace
UNION ALL SELECT 'dictionary ' || dictname, dictinitoption FROM pg_ts_dict WHERE dictnamespace = 'public'::regnamespace
UNION ALL SELECT 'defaults ' || defaclobjtype::text, defaclacl::text FROM pg_default_acl
"""


def describe_schema(url: str) -> dict[str, str]:
    """Return what each part of the schema is, by its name.

    The order of columns, white space and the partitions of a table do not count.
    """
    with psycopg.connect(url) as connection:
        return {
            name: " ".join((text or "").split()).replace(" ;", ";")
            for name, text in connection.execute(_EVERYTHING).fetchall()
        }

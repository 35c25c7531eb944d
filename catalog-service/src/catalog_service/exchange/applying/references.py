"""The SQL of references that wait for an item: of links of a file, and of those that are restored."""

from catalog_service.exchange.applying.job import Job
from catalog_service.items.kinds import KINDS

COLUMNS = (
    *("id", "kind", "owner_kind", "owner_id", "owner_key", "wanted_kind", "key", "link_type", "confidence_score"),
    *("notes", "source", "import_id", "since", "created_by", "role"),
)


def store(_: Job) -> str:
    """Return the step that stores links one or both of whose ends are not there; their items stay meanwhile.

    What waits already goes on to wait since then, with the type and the notes of this file.
    """
    owned = " UNION ALL ".join(
        f"""
        SELECT batch.position, '{kind.name}' AS owner_kind, item.id AS owner_id
        FROM batch JOIN {kind.table} AS item ON item.id = (batch.fields ->> '{kind.name}_id')::uuid
        """
        for kind in KINDS
    )
    return f"""
        owned AS MATERIALIZED ({owned}), new AS (
            SELECT batch.target_id AS id, 'link' AS kind, coalesce(owner_kind, 'requirement') AS owner_kind, owner_id,
                CASE WHEN owner_id IS NULL THEN requirement_key END AS owner_key,
                CASE owner_kind WHEN 'test_case' THEN 'requirement' ELSE 'test_case' END AS wanted_kind,
                CASE owner_kind WHEN 'test_case' THEN requirement_key ELSE test_case_key END AS key,
                fields ->> 'link_type' AS link_type, (fields ->> 'confidence_score')::double precision
                    AS confidence_score,
                fields ->> 'notes' AS notes, concat_ws(', ', %(file_name)s::text, 'sheet ' || batch.sheet,
                    'row ' || batch.row) AS source,
                %(job)s::uuid AS import_id, batch.at AS since, %(author)s AS created_by, NULL AS role,
                batch.position
            FROM batch LEFT JOIN owned ON owned.position = batch.position
            CROSS JOIN LATERAL (SELECT fields #>> '{{requirement,external_id}}' AS requirement_key,
                fields #>> '{{test_case,external_id}}' AS test_case_key) AS keys
        ), made AS (
            INSERT INTO waiting_references ({", ".join(COLUMNS)})
            SELECT {", ".join(COLUMNS)} FROM new WHERE key IS NOT NULL AND num_nonnulls(owner_id, owner_key) = 1
            ORDER BY position
            ON CONFLICT ON CONSTRAINT uq_waiting_references_ends DO UPDATE SET link_type = excluded.link_type,
                notes = excluded.notes, confidence_score = excluded.confidence_score
        ) SELECT NULL::integer[] AS refused
    """


def store_relations(_: Job) -> str:
    """Return the step that stores relations one or both of whose requirements are not there.

    Each belongs to its child, and waits for the key of its parent.
    """
    return f"""
        owned AS MATERIALIZED (
            SELECT batch.position, item.id AS owner_id
            FROM batch JOIN requirements AS item ON item.id = (batch.fields ->> 'child_id')::uuid
        ), new AS (
            SELECT batch.target_id AS id, 'relation' AS kind, 'requirement' AS owner_kind, owner_id,
                CASE WHEN owner_id IS NULL THEN fields #>> '{{child,external_id}}' END AS owner_key,
                'requirement' AS wanted_kind, fields #>> '{{parent,external_id}}' AS key,
                fields ->> 'relation_type' AS link_type, NULL::double precision AS confidence_score,
                fields ->> 'notes' AS notes, concat_ws(', ', %(file_name)s::text, 'sheet ' || batch.sheet,
                    'row ' || batch.row) AS source,
                %(job)s::uuid AS import_id, batch.at AS since, %(author)s AS created_by, fields ->> 'role' AS role,
                batch.position
            FROM batch LEFT JOIN owned ON owned.position = batch.position
        ), made AS (
            INSERT INTO waiting_references ({", ".join(COLUMNS)})
            SELECT {", ".join(COLUMNS)} FROM new WHERE key IS NOT NULL AND num_nonnulls(owner_id, owner_key) = 1
            ORDER BY position
            ON CONFLICT ON CONSTRAINT uq_waiting_references_ends DO UPDATE SET link_type = excluded.link_type,
                notes = excluded.notes, role = excluded.role
        ) SELECT NULL::integer[] AS refused
    """


def restore(_: Job) -> str:
    """Return the step that stores references of a file that is restored, as they were."""
    names = ", ".join(COLUMNS)
    return f"""
        made AS (
            INSERT INTO waiting_references ({names})
            SELECT {", ".join(f"reference.{name}" for name in COLUMNS)} FROM batch
            CROSS JOIN LATERAL json_populate_record(NULL::waiting_references, batch.fields) AS reference
            ORDER BY batch.position ON CONFLICT DO NOTHING
        ) SELECT NULL::integer[] AS refused
    """

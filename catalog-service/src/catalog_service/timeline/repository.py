"""The SQL of timelines: each source gives entries of one shape, of which a page is read."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from catalog_service.items.kinds import REQUIREMENT, TEST_CASE, ItemKind
from catalog_service.timeline.schemas import TimelineGroup
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, fetch_page

NEWEST_FIRST = Order("at:desc", (By("e.at", datetime, True), By("e.id", str, True)))
_OTHER = {REQUIREMENT.name: TEST_CASE, TEST_CASE.name: REQUIREMENT}

# Each source selects: at, id, kind, actor, version, told, link_id, other_id, import_id, test_id, run_id, context_id.
_NO_RESULT = "NULL::bigint, NULL::uuid, NULL::integer"
_VERSIONS = f"""
    SELECT i.created_at, 'created', 'created', coalesce((SELECT c.actor FROM item_changes c
            WHERE c.item_id = i.id AND c.action = 'created'), i.created_by), 1, NULL::json, NULL::uuid, NULL::uuid,
        NULL::uuid, {_NO_RESULT}
    FROM {{table}} i WHERE i.id = %(item)s
    UNION ALL
    SELECT (c.told ->> 'created_at')::timestamptz, 'created', 'created', c.told ->> 'created_by', 1, NULL, NULL, NULL,
        NULL, {_NO_RESULT}
    FROM item_changes c WHERE c.item_id = %(item)s AND c.action = 'deleted'
    UNION ALL
    SELECT c.occurred_at, 'item-' || c.id, CASE c.action WHEN 'deleted' THEN 'deleted' ELSE 'changed' END, c.actor,
        c.version, CASE c.action WHEN 'deleted' THEN NULL ELSE c.told END, NULL, NULL, c.import_id, {_NO_RESULT}
    FROM item_changes c WHERE c.item_id = %(item)s AND c.action <> 'created'
"""
_ACCEPTED = "CASE {} WHEN 'ai_confirmed' THEN 'link_accepted' ELSE 'link_made' END"
_SUGGESTION = "(SELECT a.suggestion_id FROM accepted_suggestions a WHERE a.link_id = {})"
_FIRST_NOTE = """coalesce((SELECT json_build_object('note', first.told -> 'notes' -> 'before') FROM link_changes first
    WHERE first.{{own}}_id = %(item)s AND first.link_id = {link} AND first.action = 'updated'
    AND first.told -> 'notes' IS NOT NULL ORDER BY first.id LIMIT 1), json_build_object('note', {last})) ->> 'note'"""
"""The note that a link was made with, which others may have changed since."""
_TOLD_OF_LINK = (
    "json_build_object('link_type', l.link_type, 'link_source', l.link_source, 'confidence_score', l.confidence_score,"
    f" 'notes', {_FIRST_NOTE.format(link='l.id', last='l.notes')}, 'suggestion_id', {_SUGGESTION.format('l.id')})"
)
_TOLD_OF_REMOVED = f"""json_build_object('link_type', c.told ->> 'link_type', 'link_source', c.told ->> 'link_source',
    'confidence_score', (c.told ->> 'confidence_score')::float, 'suggestion_id', {_SUGGESTION.format("c.link_id")},
    'notes', {_FIRST_NOTE.format(link="c.link_id", last="c.told ->> 'notes'")},
    'requirement_title', c.told ->> 'requirement_title', 'test_case_title', c.told ->> 'test_case_title',
    'requirement_external_id', c.told ->> 'requirement_external_id',
    'test_case_external_id', c.told ->> 'test_case_external_id')"""
_LINKS = f"""
    SELECT l.created_at, 'made-' || l.id, {_ACCEPTED.format("l.link_source")}, l.created_by, NULL::integer,
        {_TOLD_OF_LINK}, l.id, l.{{other}}_id, NULL::uuid, {_NO_RESULT}
    FROM links l WHERE l.{{own}}_id = %(item)s
    UNION ALL
    SELECT l.confirmed_at, 'confirmed-' || l.id, 'link_confirmed', l.confirmed_by, NULL, NULL, l.id, l.{{other}}_id,
        NULL, {_NO_RESULT}
    FROM links l WHERE l.{{own}}_id = %(item)s AND l.confirmed_at > l.created_at AND NOT EXISTS (
        SELECT FROM link_changes c WHERE c.link_id = l.id AND c.action = 'updated'
        AND (c.told -> 'confirmed_at' ->> 'after')::timestamptz = l.confirmed_at)
    UNION ALL
    SELECT (c.told ->> 'created_at')::timestamptz, 'made-' || c.link_id, {_ACCEPTED.format("c.told ->> 'link_source'")},
        c.told ->> 'created_by', NULL, {_TOLD_OF_REMOVED}, c.link_id, c.{{other}}_id, NULL, {_NO_RESULT}
    FROM link_changes c WHERE c.{{own}}_id = %(item)s AND c.action = 'deleted'
    UNION ALL
    SELECT c.occurred_at, 'link-' || c.id, CASE WHEN c.action = 'deleted' THEN 'link_removed'
            WHEN c.told -> 'confirmed_at' IS NOT NULL THEN 'link_confirmed' ELSE 'link_changed' END,
        c.actor, NULL, c.told, c.link_id, c.{{other}}_id, c.import_id, {_NO_RESULT}
    FROM link_changes c WHERE c.{{own}}_id = %(item)s
    UNION ALL
    SELECT v.changed_at, 'suspect-' || a.link_id || '-' || v.side || '-' || v.version, 'link_suspected',
        (SELECT c.actor FROM item_changes c
            WHERE c.item_id = v.item_id AND c.version = v.version AND c.action = 'updated' ORDER BY c.id LIMIT 1),
        v.version, json_build_object('side', v.side, 'fields', v.changed_fields), a.link_id, a.{{other}}_id, NULL,
        {_NO_RESULT}
    FROM (
        SELECT link_id, requirement_id, test_case_id, at, is_end,
            lead(at) OVER (PARTITION BY link_id ORDER BY at, is_end) AS until
        FROM (
            SELECT l.id AS link_id, l.requirement_id, l.test_case_id, l.created_at AS at, false AS is_end
            FROM links l WHERE l.{{own}}_id = %(item)s
            UNION
            SELECT l.id, l.requirement_id, l.test_case_id, l.confirmed_at, false
            FROM links l WHERE l.{{own}}_id = %(item)s AND l.confirmed_at IS NOT NULL
            UNION
            SELECT c.link_id, c.requirement_id, c.test_case_id, CASE c.action
                WHEN 'deleted' THEN c.occurred_at ELSE (c.told -> 'confirmed_at' ->> 'after')::timestamptz END,
                c.action = 'deleted'
            FROM link_changes c WHERE c.{{own}}_id = %(item)s
                AND (c.action = 'deleted' OR c.told -> 'confirmed_at' IS NOT NULL)
            UNION
            SELECT c.link_id, c.requirement_id, c.test_case_id, (c.told ->> 'created_at')::timestamptz, false
            FROM link_changes c WHERE c.{{own}}_id = %(item)s AND c.action = 'deleted'
        ) AS moments
    ) AS a CROSS JOIN LATERAL (
        (SELECT 'requirement' AS side, r.item_id, r.version, r.changed_at, r.changed_fields FROM item_revisions r
         WHERE r.item_id = a.requirement_id AND r.changed_at > a.at AND (a.until IS NULL OR r.changed_at < a.until)
         ORDER BY r.version LIMIT 1)
        UNION ALL
        (SELECT 'test_case', t.item_id, t.version, t.changed_at, t.changed_fields FROM item_revisions t
         WHERE t.item_id = a.test_case_id AND t.changed_at > a.at AND (a.until IS NULL OR t.changed_at < a.until)
         ORDER BY t.version LIMIT 1)
    ) AS v WHERE NOT a.is_end
"""
_SUGGESTIONS = f"""
    SELECT s.reviewed_at, 'review-' || s.suggestion_id || '-' || extract(epoch FROM s.reviewed_at),
        'suggestion_rejected', s.actor, NULL::integer,
        json_build_object('suggestion_id', s.suggestion_id, 'confidence_score', s.score, 'notes', s.note),
        NULL::uuid, s.{{other}}_id, NULL::uuid, {_NO_RESULT}
    FROM suggestion_reviews s WHERE s.{{own}}_id = %(item)s
"""
_RESULTS = """
    SELECT t.at, 'result-' || t.test_id || '-' || t.context_id || '-' || t.run_id, 'result', NULL::text, NULL::integer,
        json_build_object('status', t.status, 'before', t.before), NULL::uuid, NULL::uuid, NULL::uuid,
        t.test_id, t.run_id, t.context_id
    FROM (
        SELECT x.at, x.test_id, x.context_id, x.run_id, x.status,
            lag(x.status) OVER (PARTITION BY x.test_id, x.context_id ORDER BY x.at, x.run_id) AS before
        FROM executions x WHERE x.status <> 'skipped' AND x.test_id IN ({tests})
    ) AS t WHERE t.before IS DISTINCT FROM t.status
"""
_TESTS = {
    REQUIREMENT.name: "SELECT c.test_id FROM automated_test_cases c JOIN links l ON l.test_case_id = c.test_case_id"
    " WHERE l.requirement_id = %(item)s",
    TEST_CASE.name: "SELECT c.test_id FROM automated_test_cases c WHERE c.test_case_id = %(item)s",
}
_SOURCES = {
    TimelineGroup.VERSIONS: _VERSIONS,
    TimelineGroup.LINKS: _LINKS,
    TimelineGroup.SUGGESTIONS: _SUGGESTIONS,
    TimelineGroup.RESULTS: _RESULTS,
}
_BY_IMPORT = "e.import_id IS NOT NULL OR e.told ->> 'link_source' = 'imported'"
_COLUMNS = """
    e.at, e.id, e.kind, e.actor, e.version, e.told, e.link_id, e.import_id,
    coalesce(e.other_id, proved.id) AS item_id, coalesce(o.external_id, proved.external_id) AS item_external_id,
    coalesce(o.title, proved.title) AS item_title, coalesce(o.module, proved.module) AS item_module,
    CASE WHEN e.run_id IS NOT NULL THEN json_build_object('test', json_build_object('id', t.id,
            'class_name', t.class_name, 'name', t.name),
        'run', json_build_object('id', r.id, 'branch', x.branch, 'commit', r.commit,
            'environment', nullif(x.environment, ''), 'build_url', r.build_url,
            'recorded_by', CASE WHEN t.is_manual THEN r.created_by END),
        'message', f.message) END AS result
"""


_MESSAGE = """
    LEFT JOIN LATERAL (
        SELECT said.message FROM execution_failures said
        WHERE said.test_id = e.test_id AND said.at = e.at AND said.run_id = e.run_id LIMIT 1
    ) f ON true
"""
"""What was said of the execution that an entry `e` is of: its test, its moment and its run."""


def _joined(kind: ItemKind) -> str:
    """Return what names the items, tests and runs of a page."""
    of_links = (
        "JOIN links l ON l.test_case_id = m.test_case_id AND l.requirement_id = %(item)s" if kind is REQUIREMENT else ""
    )
    proves = "" if kind is REQUIREMENT else "AND false"
    return f"""
        LEFT JOIN {_OTHER[kind.name].table} o ON o.id = e.other_id
        LEFT JOIN automated_tests t ON t.id = e.test_id LEFT JOIN test_runs r ON r.id = e.run_id
        LEFT JOIN run_contexts x ON x.id = e.context_id
        LEFT JOIN LATERAL (
            SELECT c.id, c.external_id, c.title, c.module FROM automated_test_cases m {of_links}
            JOIN test_cases c ON c.id = m.test_case_id
            WHERE m.test_id = e.test_id {proves} ORDER BY c.external_id, c.id LIMIT 1
        ) AS proved ON true
        {_MESSAGE}
    """


async def find_page(
    connection: Connection,
    kind: ItemKind,
    item_id: UUID,
    groups: Collection[TimelineGroup],
    wanted: PageRequest,
) -> Fetched:
    """Return a page of what happened to an item, the newest first; `groups` none: of everything."""
    conditions = Conditions(item=item_id)
    chosen = [group for group in _SOURCES if not groups or group in groups]
    if TimelineGroup.IMPORTS in groups:
        chosen = list(_SOURCES)
        others = [f"'{group}'" for group in groups if group in _SOURCES]
        conditions.add(f"({' OR '.join([_BY_IMPORT, *(f'e.part = {one}' for one in others)])})")
    own, other = kind.name, _OTHER[kind.name].name
    sources = " UNION ALL ".join(
        f"SELECT '{group}' AS part, {group}.* FROM ("
        + _SOURCES[group].format(own=own, other=other, table=kind.table, tests=_TESTS[own])
        + f") AS {group}"
        " (at, id, kind, actor, version, told, link_id, other_id, import_id, test_id, run_id, context_id)"
        for group in chosen
    )
    return await fetch_page(connection, _COLUMNS, f"({sources}) e", conditions, wanted, joined=_joined(kind))


REMEMBER_REVIEWS = """
INSERT INTO suggestion_reviews (suggestion_id, reviewed_at, requirement_id, test_case_id, actor, score, note)
SELECT suggestion_id, reviewed_at, requirement_id, test_case_id, actor, score, note
FROM json_populate_recordset(NULL::suggestion_reviews, %s)
ON CONFLICT DO NOTHING
"""

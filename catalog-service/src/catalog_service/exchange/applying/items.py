"""The SQL of items that an import creates, changes or deletes."""

from collections.abc import Callable

from catalog_service.exchange.applying import event_sql
from catalog_service.exchange.applying.job import Job
from catalog_service.fields.repository import changed_fields
from catalog_service.items.kinds import REQUIREMENT, ItemKind
from catalog_service.links.fields import COLUMNS as LINK_COLUMNS
from catalog_service.links.repository import JOINED_ENDS, NAMES
from catalog_service.relations.fields import COLUMNS as RELATION_COLUMNS
from catalog_service.relations.repository import JOINED_ENDS as JOINED_REQUIREMENTS
from catalog_service.relations.repository import NAMES as NAMES_OF_REQUIREMENTS
from contracts.catalog import LinkDeleted, LinkState, RelationDeleted, RelationState

APPLIED = "batch.position AS place, batch.at, batch.time"
"""Where a row is in the file, and when it is applied: as a moment, and as events say it."""
REFUSED = "SELECT array_agg(position) AS refused FROM batch WHERE target_id NOT IN (SELECT id FROM made)"
TIMES = {name: event_sql.moment(f"changed.{name}") for name in ("created_at", "updated_at")}
SEARCHED = (
    *("external_id", "title", "tags", "description", "custom_metadata"),
    *("steps", "preconditions", "postconditions", "test_data"),
)
"""The fields that search documents are made of."""
_UNSAID = {"section": "'{}'", "derived": "false"}
"""What new items get where a file was read before there were such fields."""
_NOT_CHANGED = ("id", "version", "created_at", "updated_at")


def unless_there(job: Job) -> str:
    """Return of the INSERT of new rows what becomes of those that are there.

    Where one of them undoes the import anyway, PostgreSQL need not look for them before it inserts.
    """
    return "" if job.is_undone_by_a_change else "ON CONFLICT DO NOTHING"


def made(job: Job) -> str:
    """Return the source of those of `new` that were inserted: all, where one that is there undoes the import."""
    if job.is_undone_by_a_change:
        return "new"
    # Not a join: PostgreSQL, which knows nothing of `new`, would compare each with each.
    return "(SELECT * FROM new WHERE (id IN (SELECT id FROM made)) IS TRUE)"


def create(kind: ItemKind) -> Callable[[Job], str]:
    """Return the step that creates items."""

    def statement(job: Job) -> str:
        values = {name: f"item.{name}" for name in kind.columns} | {"id": "batch.target_id"}
        if job.restores:
            values["version"] = "coalesce(item.version, 1)"
            values |= {name: f"coalesce(item.{name}, batch.at)" for name in ("created_at", "updated_at")}
        else:
            values |= {"version": "1", "created_at": "batch.at", "updated_at": "batch.at"}
            values["created_by"] = "coalesce(item.created_by, %(author)s)"
        values |= {name: f"coalesce(item.{name}, {value})" for name, value in _UNSAID.items() if name in values}
        given = "item.position" if job.restores else "NULL"
        values["position"] = f"item_position('{kind.name}', {values['section']}, {given}, batch.at)"
        names = ", ".join(kind.columns)
        selected = ", ".join(f"{value} AS {name}" for name, value in values.items())
        created = _created(kind, job)
        refused = "SELECT NULL::integer[] AS refused" if job.is_undone_by_a_change else REFUSED
        return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED}, batch.fields, item.id AS own_id, {selected}
            FROM batch CROSS JOIN LATERAL json_populate_record(NULL::{kind.table}, batch.fields) AS item
            ORDER BY batch.position
        ), made AS (
            INSERT INTO {kind.table} ({names}) SELECT {names} FROM new ORDER BY place
            {unless_there(job)} RETURNING id
        ), creators AS (
            INSERT INTO item_changes (item_id, kind, action, actor, occurred_at, version, told)
            SELECT id, '{kind.name}', 'created', %(actor)s, created_at, 1, '{{}}' FROM {made(job)} AS made_now
            WHERE created_by <> %(actor)s AND NOT %(restores)s ORDER BY place
        ), events AS (
            {event_sql.insert((kind.created, _payload(kind.name, created), made(job)))}
        ) {refused}
        """

    return statement


def _created(kind: ItemKind, job: Job) -> str:
    """Return the SQL of the JSON object of a new item."""
    state = event_sql.state(kind.columns, "changed", **TIMES)
    if job.restores:
        return state
    # Its fields are that already, but for what is given to a new item; to write them anew costs ten times as much.
    times = """"created_at":"' || changed.time || '","updated_at":"' || changed.time || '","""
    given = f"""'{{"id":"' || changed.id || '","version":1,{times}"position":"' || changed.position || '",'"""
    fields = "convert_from(substr(convert_to(changed.fields::text, 'UTF8'), 2), 'UTF8')"
    return f"CASE WHEN changed.own_id IS NULL THEN {given} || {fields} ELSE {state}::text END"


def update(kind: ItemKind) -> Callable[[Job], str]:
    """Return the step that changes items: a change of meaning raises the version, as with PATCH."""

    def statement(job: Job) -> str:
        changeable = [name for name in kind.columns if name not in _NOT_CHANGED]
        values = {name: f"item.{name}" for name in kind.columns}
        if not job.restores:
            values["version"] = "item.version + (cardinality(meaning.fields) > 0)::integer"
            values["position"] = (
                "CASE WHEN batch.changes -> 'section' IS NULL THEN item.position"
                f" ELSE item_position('{kind.name}', item.section, NULL, batch.at) END"
            )
            values["updated_at"] = "greatest(batch.at, item.updated_at + interval '1 microsecond')"
        selected = ", ".join(f"{value} AS {name}" for name, value in values.items())
        searched = [name for name in SEARCHED if name in kind.columns]
        state = event_sql.state(kind.columns, "changed", **TIMES)
        payload = _payload(kind.name, state, f""" || ',"changes":' || {event_sql.changes(changeable)}""")
        return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED}, batch.changes, present, meaning.fields,
                {selected}
            FROM batch JOIN {kind.table} AS present ON present.id = batch.target_id
            CROSS JOIN LATERAL json_populate_record(present,
                (SELECT json_object_agg(key, value -> 'after') FROM json_each(batch.changes))) AS item
            CROSS JOIN LATERAL (
                SELECT ARRAY(SELECT field FROM unnest(%(meaning_of_{kind.name})s::text[]) WITH ORDINALITY
                             AS meant (field, place) WHERE batch.changes -> field IS NOT NULL ORDER BY place)
                    || {changed_fields("batch.changes", f"%(fields_of_{kind.name})s")} AS fields
            ) AS meaning
        ), made AS (
            UPDATE {kind.table} AS stored SET {", ".join(f"{name} = new.{name}" for name in kind.columns)},
                search = CASE WHEN new.changes::jsonb ?| '{{{",".join(searched)}}}' THEN NULL ELSE stored.search END
            FROM new WHERE stored.id = new.id RETURNING stored.id
        ), revisions AS (
            INSERT INTO item_revisions (item_id, version, changed_fields, changed_at)
            SELECT id, version, fields, updated_at FROM new WHERE cardinality(fields) > 0 AND NOT %(restores)s
        ), events AS (
            {event_sql.insert((kind.updated, payload, "new"))}
        ) {REFUSED}
        """

    return statement


def delete(kind: ItemKind) -> Callable[[Job], str]:
    """Return the step that deletes items, their links and relations, which must be locked, and remembers them."""
    unrelated, events, no_relations = "", [], ""
    if kind is REQUIREMENT:
        unrelated = f""", unrelated AS MATERIALIZED (
            SELECT DISTINCT ON (n.id) new.place, new.time,
                {", ".join(f"n.{name}" for name in RELATION_COLUMNS)}, {NAMES_OF_REQUIREMENTS}
            FROM new JOIN requirement_relations n ON n.child_id = new.id OR n.parent_id = new.id {JOINED_REQUIREMENTS}
            ORDER BY n.id, new.place
        )"""
        events = [(RelationDeleted, relation_payload(), "unrelated")]
        no_relations = """no_relations AS (
            DELETE FROM requirement_relations WHERE id IN (SELECT id FROM unrelated)
        ), """

    def statement(_: Job) -> str:
        payload = _payload(kind.name, event_sql.state(kind.columns, "changed", **TIMES))
        return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED},
                {", ".join(f"item.{name}" for name in kind.columns)}
            FROM batch JOIN {kind.table} AS item ON item.id = batch.target_id
        ), unlinked AS MATERIALIZED (
            SELECT new.place, new.time,
                {", ".join(f"l.{name}" for name in LINK_COLUMNS)}, {NAMES}
            FROM new JOIN links l ON l.{kind.name}_id = new.id {JOINED_ENDS}
        ){unrelated}, events AS (
            {event_sql.insert((kind.deleted, payload, "new"), (LinkDeleted, link_payload(), "unlinked"), *events)}
        ), remembered AS (
            INSERT INTO deleted_items (kind, id, external_id, source_system, deleted_at, deleted_by)
            SELECT '{kind.name}', id, external_id, source_system, at, %(actor)s FROM new
            ON CONFLICT (kind, id) DO UPDATE SET external_id = excluded.external_id,
                source_system = excluded.source_system, deleted_at = excluded.deleted_at,
                deleted_by = excluded.deleted_by
        ), revisions AS (
            DELETE FROM item_revisions WHERE item_id IN (SELECT id FROM new)
        ), no_links AS (
            DELETE FROM links WHERE id IN (SELECT id FROM unlinked)
        ), {no_relations}made AS (
            DELETE FROM {kind.table} WHERE id IN (SELECT id FROM new) RETURNING id
        ) {REFUSED}
        """

    return statement


def add_revisions(_: Job) -> str:
    """Return the step that stores which fields made versions of restored items, those of the record alone."""
    return """
        made AS (
            INSERT INTO item_revisions (item_id, version, changed_fields, changed_at)
            SELECT revision.item_id, revision.version, revision.changed_fields, revision.changed_at FROM batch
            CROSS JOIN LATERAL json_populate_record(NULL::item_revisions, batch.fields) AS revision
            WHERE EXISTS (SELECT FROM requirements WHERE id = revision.item_id)
                OR EXISTS (SELECT FROM test_cases WHERE id = revision.item_id)
            ON CONFLICT (item_id, version) DO UPDATE SET changed_fields = excluded.changed_fields,
                changed_at = excluded.changed_at
        ) SELECT NULL::integer[] AS refused
    """


def link_payload(more: str = "") -> str:
    """Return the SQL of the payload of an event of a link."""
    times = {name: event_sql.moment(f"changed.{name}") for name in ("created_at", "confirmed_at", "updated_at")}
    # A whole number is one of a kind of its own in JSON.
    score = (
        "CASE WHEN changed.confidence_score IN (0, 1) THEN (changed.confidence_score || '.0')::json"
        " ELSE to_json(changed.confidence_score) END"
    )
    state = event_sql.state(LinkState.model_fields, "changed", confidence_score=score, **times)
    return _payload("link", state, more)


def relation_payload(more: str = "") -> str:
    """Return the SQL of the payload of an event of a relation."""
    times = {name: event_sql.moment(f"changed.{name}") for name in ("created_at", "confirmed_at", "updated_at")}
    return _payload("relation", event_sql.state(RelationState.model_fields, "changed", **times), more)


def _payload(name: str, state: str, more: str = "") -> str:
    return f"""'{{"{name}":' || {state}{more} || '}}'"""

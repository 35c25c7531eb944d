"""The SQL of relations that an import makes or changes."""

from uuid import UUID

from catalog_service.exchange.applying import event_sql
from catalog_service.exchange.applying.items import APPLIED, REFUSED, made, relation_payload, unless_there
from catalog_service.exchange.applying.job import Job
from catalog_service.relations import repository
from catalog_service.relations.circles import find_circles
from catalog_service.relations.fields import COLUMNS, VERSIONS
from catalog_service.relations.repository import JOINED_ENDS, NAMES
from catalog_service.values import ROLLING_TYPES
from chassis.db import isolation
from chassis.db.database import Connection
from contracts.catalog import RelationCreated, RelationUpdated

_CHANGEABLE = ("relation_type", "role", "notes")


def create(job: Job) -> str:
    """Return the step that makes relations: of the versions that their requirements have, or of a restored file's."""
    values = {name: f"n.{name}" for name in COLUMNS} | {"id": "batch.target_id"}
    values |= {"relation_type": "coalesce(n.relation_type, 'refines')", "source": "coalesce(n.source, 'imported')"}
    if job.restores:
        values |= {name: f"coalesce(n.{name}, batch.at)" for name in ("created_at", "updated_at")}
        values |= {"child_version": "coalesce(n.child_version, c.version)"}
        values |= {"parent_version": "coalesce(n.parent_version, p.version)"}
    else:
        values |= {"created_at": "batch.at", "updated_at": "batch.at"}
        values |= {"created_by": "coalesce(n.created_by, %(author)s)"}
        values |= {"child_version": "c.version", "parent_version": "p.version"}
    names = ", ".join((*COLUMNS, *VERSIONS))
    selected = ", ".join(f"{value} AS {name}" for name, value in values.items())
    return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED}, {selected}, {NAMES}
            FROM batch CROSS JOIN LATERAL json_populate_record(NULL::requirement_relations, batch.fields) AS n
            {JOINED_ENDS}
        ), made AS (
            INSERT INTO requirement_relations ({names}) SELECT {names} FROM new ORDER BY place
            {unless_there(job)} RETURNING id
        ), events AS (
            {event_sql.insert((RelationCreated, relation_payload(), made(job)))}
        ) {REFUSED}
    """


def update(job: Job) -> str:
    """Return the step that changes relations."""
    values = {name: f"item.{name}" for name in COLUMNS}
    if not job.restores:
        values["updated_at"] = "greatest(batch.at, item.updated_at + interval '1 microsecond')"
    selected = ", ".join(f"{value} AS {name}" for name, value in values.items())
    payload = relation_payload(f""" || ',"changes":' || {event_sql.changes(_CHANGEABLE)}""")
    return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED}, batch.changes, n AS present, {selected}, {NAMES}
            FROM batch JOIN requirement_relations n ON n.id = batch.target_id {JOINED_ENDS}
            CROSS JOIN LATERAL json_populate_record(n,
                (SELECT json_object_agg(key, value -> 'after') FROM json_each(batch.changes))) AS item
        ), made AS (
            UPDATE requirement_relations SET {", ".join(f"{name} = new.{name}" for name in COLUMNS)}
            FROM new WHERE requirement_relations.id = new.id RETURNING requirement_relations.id
        ), events AS (
            {event_sql.insert((RelationUpdated, payload, "new"))}
        ) {REFUSED}
    """


async def find_closing(connection: Connection, job_id: UUID, action: str, after: int, last: int) -> list[int]:
    """Return the positions of rows that would close a circle by now; nobody else makes relations until the end.

    References that wait are locked first: whoever creates an item holds them while a relation is made of one.
    """
    rows = f"""
        SELECT r.position, coalesce(n.child_id, (r.fields ->> 'child_id')::uuid) AS child_id,
            coalesce(n.parent_id, (r.fields ->> 'parent_id')::uuid) AS parent_id,
            CASE r.action WHEN 'create' THEN r.fields ->> 'relation_type'
                ELSE r.changes #>> '{{relation_type,after}}' END IN {ROLLING_TYPES} AS rolls
        FROM import_rows r LEFT JOIN requirement_relations n ON r.action = 'update' AND n.id = r.target_id
        WHERE r.job_id = %s AND r.kind = 'relation' AND r.action = %s AND r.position > %s AND r.position <= %s
    """
    found = await (await connection.execute(rows, (job_id, action, after, last))).fetchall()
    await connection.execute(
        f"SELECT pg_advisory_xact_lock(hashtextextended('references of ' || current_setting('{isolation.SETTING}'), 0))"
    )
    await repository.lock_ends(connection, {row[f"{end}_id"] for row in found for end in ("child", "parent")})
    await repository.lock_project(connection)
    new = [row for row in found if row["rolls"]]
    if not new:
        return []
    parents = await repository.parents_above(connection, list({row["parent_id"] for row in new}))
    for row in new:
        parents.setdefault(row["child_id"], []).append(row["parent_id"])
    closing = find_circles(parents)
    return [row["position"] for row in new if (row["child_id"], row["parent_id"]) in closing]

"""The SQL of links that an import makes, changes or removes."""

from catalog_service.exchange.applying import event_sql
from catalog_service.exchange.applying.items import APPLIED, REFUSED, link_payload, made, unless_there
from catalog_service.exchange.applying.job import Job
from catalog_service.links.fields import COLUMNS
from catalog_service.links.repository import JOINED_ENDS, NAMES
from contracts.catalog import LinkCreated, LinkDeleted, LinkUpdated

_VERSIONS = ("requirement_version", "test_case_version")
_CHANGEABLE = ("link_type", "link_source", "confidence_score", "notes")


def create(job: Job) -> str:
    """Return the step that makes links: of the versions that their ends have, or of the file's in a restore."""
    values = {name: f"l.{name}" for name in COLUMNS} | {"id": "batch.target_id"}
    values |= {"link_type": "coalesce(l.link_type, 'covers')", "link_source": "coalesce(l.link_source, 'imported')"}
    if job.restores:
        values |= {name: f"coalesce(l.{name}, batch.at)" for name in ("created_at", "updated_at")}
        values |= {
            "requirement_version": "coalesce(l.requirement_version, r.version)",
            "test_case_version": "coalesce(l.test_case_version, t.version)",
        }
    else:
        values |= {
            "created_at": "batch.at",
            "updated_at": "batch.at",
            "created_by": "coalesce(l.created_by, %(author)s)",
        }
        values |= {"requirement_version": "r.version", "test_case_version": "t.version"}
    names = ", ".join((*COLUMNS, *_VERSIONS))
    selected = ", ".join(f"{value} AS {name}" for name, value in values.items())
    payload = link_payload(""" || ',"suggestion_id":null'""")
    return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED}, {selected}, {NAMES}
            FROM batch CROSS JOIN LATERAL json_populate_record(NULL::links, batch.fields) AS l {JOINED_ENDS}
        ), made AS (
            INSERT INTO links ({names}) SELECT {names} FROM new ORDER BY place {unless_there(job)} RETURNING id
        ), events AS (
            {event_sql.insert((LinkCreated, payload, made(job)))}
        ) {REFUSED}
    """


def update(job: Job) -> str:
    """Return the step that changes links."""
    values = {name: f"item.{name}" for name in COLUMNS}
    if not job.restores:
        values["updated_at"] = "greatest(batch.at, item.updated_at + interval '1 microsecond')"
    selected = ", ".join(f"{value} AS {name}" for name, value in values.items())
    stored = (*COLUMNS, *(_VERSIONS if job.restores else ()))
    versions = "".join(f", item.{name}" for name in _VERSIONS)
    payload = link_payload(f""" || ',"changes":' || {event_sql.changes(_CHANGEABLE)}""")
    return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED}, batch.changes, l AS present,
                {selected}{versions}, {NAMES}
            FROM batch JOIN links l ON l.id = batch.target_id {JOINED_ENDS}
            CROSS JOIN LATERAL json_populate_record(l,
                (SELECT json_object_agg(key, value -> 'after') FROM json_each(batch.changes))) AS item
        ), made AS (
            UPDATE links SET {", ".join(f"{name} = new.{name}" for name in stored)}
            FROM new WHERE links.id = new.id RETURNING links.id
        ), events AS (
            {event_sql.insert((LinkUpdated, payload, "new"))}
        ) {REFUSED}
    """


def delete(_: Job) -> str:
    """Return the step that deletes links."""
    return f"""
        new AS MATERIALIZED (
            SELECT {APPLIED},
                {", ".join(f"l.{name}" for name in COLUMNS)}, {NAMES}
            FROM batch JOIN links l ON l.id = batch.target_id {JOINED_ENDS}
        ), events AS (
            {event_sql.insert((LinkDeleted, link_payload(), "new"))}
        ), made AS (
            DELETE FROM links WHERE id IN (SELECT id FROM new) RETURNING id
        ) {REFUSED}
    """

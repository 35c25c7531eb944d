"""Plans an import: what each row of its file would do to the record, all of one moment. The record stays as it is."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from catalog_service.exchange.incomplete import INCOMPLETE
from catalog_service.exchange.jobs.job import Job
from catalog_service.exchange.jobs.options import Deleted, LinksOf, Missing, Mode, OnConflict, scope_of
from catalog_service.exchange.planning import changes, items, links, relations
from catalog_service.exchange.planning.items import Rules
from catalog_service.exchange.planning.storing import STORE
from catalog_service.fields import repository as project_fields
from catalog_service.fields.definitions import PREFIX, Fields
from catalog_service.fields.repository import changed_fields
from catalog_service.items.kinds import KINDS, ItemKind
from catalog_service.levels import repository as project_levels
from catalog_service.levels.service import about_unknown_level
from chassis.core import projects
from chassis.core.wording import listed
from chassis.db import isolation
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_value
from chassis.messaging import outbox

ACTIONS = ("create", "update", "unchanged", "conflict", "error", "skip", "delete", "wait")
SECTIONS = {"requirement": "requirements", "test_case": "test_cases", "link": "links", "relation": "relations"}
_MOST_DELETIONS = 20
_SHARE_OF_DELETIONS = 0.05
SCORED = ("title", "description", "steps", "preconditions", "postconditions", "module", "tags", "priority")
"""What suggestions look at: a change of anything else has nothing looked for."""
IDS_TAKEN = "ids_taken"
"""The code of rows that a restore cannot create."""
_OPTIONS = (
    "-c TimeZone=UTC -c statement_timeout=10min -c temp_buffers=64MB -c work_mem=64MB -c random_page_cost=1.1"
    # Of tables that are read as a whole, statistics need not say more.
    " -c jit=off -c max_parallel_workers_per_gather=0 -c default_statistics_target=10"
)

_TABLES = {**{kind.name: kind.table for kind in KINDS}, "link": "links", "relation": "requirement_relations"}

_HASH = """
SELECT encode(sha256(coalesce(string_agg(
    concat_ws(':', position, action, target_id, target_version), E'\\n' ORDER BY position), '')::bytea), 'hex')
FROM import_rows WHERE job_id = %(job)s
"""


@dataclass(slots=True)
class _Planner:
    connection: Connection
    job: Job

    async def run(self, statement: str, **more: Any) -> int:
        """Execute a statement over the rows of the job; return how many rows it concerned."""
        return (await self.connection.execute(statement, {"job": self.job.id, **more})).rowcount

    @property
    def options(self) -> Mapping[str, Any]:
        return self.job.options


async def plan(database: Database, job: Job, read: Mapping[str, Any]) -> dict[str, Any]:
    """Plan the stored rows of a job; `read` is what the reader said of its file. Return what the job keeps."""
    position = await outbox.number(database)
    async with _session(database, job) as connection:
        planner = _Planner(connection, job)
        await planner.run("SELECT analyze_import_rows()")
        defaulted = dict(read["defaulted"])
        made = await _levels_to_make(planner, read["levels"])
        await _plan_items(planner, read["format"], defaulted, made)
        await _plan_links(planner)
        await _plan_deletions(planner)
        counts = await count_rows(connection, job.id)
        return {
            "format": read["format"],
            "rows_read": read["rows"],
            "counts": counts,
            "summary": await _summary(planner, counts, {**read, "defaulted": defaulted, "levels": made}),
            "plan_hash": await fetch_value(connection, _HASH, {"job": job.id}),
            "record_position": position,
        }


@asynccontextmanager
async def _session(database: Database, job: Job) -> AsyncIterator[Connection]:
    """A transaction in a session of its own, which has the memory that large temporary tables need."""
    connection = await psycopg.AsyncConnection.connect(
        database.url,
        options=f"{_OPTIONS} -c role={isolation.APP} -c {isolation.SETTING}={job.project_id}",
        application_name="traceline import plan",
        row_factory=dict_row,
    )
    async with connection:  # committed at its end, and closed
        await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        yield connection


async def _fill_fields(planner: _Planner, own: Fields, defaulted: dict[str, int]) -> None:
    """Give new items what they lack of required fields, and count it; refuse those that lack one without a default."""
    for kind in KINDS:
        required = [field for field in own.of(kind.name).values() if field.required]
        for field in required:
            if field.default is None:
                message = f"{field.name} (field {field.key}) is missing; a new item needs it."
                await planner.run(items.refuse_without(kind), key=field.key, message=message)
            elif count := await planner.run(items.count_without(kind), key=field.key):
                defaulted[f"{PREFIX}{field.key}"] = defaulted.get(f"{PREFIX}{field.key}", 0) + count
        defaults = {field.key: field.default for field in required if field.default is not None}
        await planner.run(items.fill(kind), defaults=Jsonb(defaults))


async def _levels_to_make(planner: _Planner, of_file: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the levels of a file that are made with it: where the project has none, and an admin imports it."""
    if not of_file or not planner.options.get("makes_levels") or await project_levels.keys(planner.connection):
        return []
    return of_file


async def _refuse_unknown_levels(planner: _Planner, made: list[dict[str, Any]]) -> None:
    known = [level["key"] for level in made] or await project_levels.keys(planner.connection)
    await planner.run(items.refuse_unknown_levels(), known=known, message=about_unknown_level(known))


async def _plan_items(
    planner: _Planner, file_format: str, defaulted: dict[str, int], made: list[dict[str, Any]]
) -> None:
    options = planner.options
    restoring = options["mode"] == Mode.RESTORE
    mapping = options.get("mapping") or {}
    rules = Rules(
        key=() if restoring else items.usable_key(list(mapping.get("key") or ())),
        restoring=restoring,
        adopt=options["adopt"],
        recreate=options["deleted"] == Deleted.RECREATE,
    )
    await planner.run(items.CREATE_TABLE)
    await planner.run("CREATE TEMP TABLE plan_changes (position integer, changes json) ON COMMIT DROP")
    has_deleted = await fetch_value(planner.connection, "SELECT EXISTS (SELECT FROM deleted_items)")
    for kind in KINDS:
        await planner.run(
            items.match(kind, rules),
            has_deleted=has_deleted,
            project=planner.job.project_id,
            is_reqif=file_format in ("reqif", "reqifz"),
            prefix=mapping.get("external_id_prefix") or "",
        )
    await planner.run("ANALYZE plan")
    own = await project_fields.of(planner.connection)
    if own and not restoring:
        await _fill_fields(planner, own, defaulted)
    await _refuse_unknown_levels(planner, made)
    await planner.run(items.refuse_duplicates())
    for kind in KINDS:
        await planner.run(items.leave_unchanged(kind, restoring=restoring))
        merging = options["mode"] == Mode.MERGE
        await changes.find(planner.connection, kind, planner.job.id, merging=merging, restoring=restoring)
    if options["on_conflict"] != OnConflict.OVERWRITE:
        await planner.run(
            "UPDATE plan SET action = 'conflict', code = %(code)s, changes = NULL"
            " WHERE action = 'update' AND (%(restoring)s OR version < target_version)",
            code="already_there" if restoring else "changed_since_export",
            restoring=restoring,
        )
    if options["on_conflict"] == OnConflict.SKIP:
        await planner.run("UPDATE plan SET action = 'skip' WHERE action = 'conflict'")
    if restoring:
        await planner.run("UPDATE plan SET target_id = file_id WHERE action = 'create'")
        return
    await planner.run(
        "UPDATE plan SET target_id = copy_id WHERE action = 'create' AND external_id IS NULL AND was_deleted IS NULL"
    )
    if options["assign_external_id"] is not None:
        for kind in KINDS:
            await _assign(planner, kind, options["assign_external_id"])


async def _assign(planner: _Planner, kind: ItemKind, template: str) -> None:
    """Assign an external_id to the new items of a kind that have no key: numbers that follow the highest there is."""
    before, _, after = template.partition("{n}")
    await planner.run(
        f"""
        WITH taken AS (
            SELECT substr(external_id, %(start)s, greatest(0, length(external_id) - %(around)s)) AS number
            FROM (
                SELECT external_id FROM {kind.table}
                UNION ALL SELECT external_id FROM plan WHERE kind = '{kind.name}'
            ) known
            WHERE starts_with(external_id, %(before)s) AND right(external_id, length(%(after)s)) = %(after)s
        ), numbered AS (
            SELECT position, row_number() OVER (ORDER BY position) + (
                SELECT coalesce(max(number::bigint), 0) FROM taken WHERE number ~ '^[0-9]{{1,9}}$') AS number
            FROM plan WHERE kind = '{kind.name}' AND action = 'create' AND external_id IS NULL
        )
        UPDATE plan SET assigned = %(before)s || number || %(after)s, code = NULL
        FROM numbered WHERE plan.position = numbered.position
        """,
        before=before,
        after=after,
        start=len(before) + 1,
        around=len(before) + len(after),
    )


async def _plan_links(planner: _Planner) -> None:
    for statement in links.CREATE_TABLES.split(";"):
        await planner.run(statement)
    restoring = planner.options["mode"] == Mode.RESTORE
    has_links, has_relations = [
        await fetch_value(
            planner.connection,
            "SELECT EXISTS (SELECT FROM import_rows WHERE job_id = %s AND kind = %s)",
            (planner.job.id, kind),
        )
        for kind in ("link", "relation")
    ]
    if has_links or has_relations:
        await planner.run(links.FIND_ENDS)
        await planner.run("CREATE INDEX ON plan_ends (key, kind)")
        await planner.run("ANALYZE plan_ends")
    if has_links:
        await planner.run(links.match(restoring=restoring))
        if not restoring:
            for kind in KINDS:
                await planner.run(links.find_copies(kind), project=planner.job.project_id)
        await planner.run(links.REFUSE)
        await planner.run("ANALYZE plan_links")
        await planner.run(links.JUDGE, waits=not restoring)
    await planner.run(STORE)
    if has_links:
        await planner.run(links.STORE)
    if has_relations:
        await planner.run(relations.CREATE_TABLE)
        await planner.run(relations.match(restoring=restoring))
        await planner.run("ANALYZE plan_relations")
        await planner.run(relations.JUDGE, waits=not restoring)
        await planner.run(relations.REFUSE_MANY)
        await relations.refuse_circles(planner.connection, planner.job.id)
        await planner.run(relations.STORE)
    if restoring:
        await planner.run(
            "UPDATE import_rows SET action = 'create' WHERE job_id = %(job)s"
            " AND kind IN ('revision', 'reference') AND action IS NULL"
        )
        await _refuse_taken(planner)
    if planner.options["links"] == LinksOf.EXACT and planner.job.kind in {"all", "links"}:
        await planner.run(links.REMOVE_OTHERS, last=await _last(planner))


async def _refuse_taken(planner: _Planner) -> None:
    """Create nothing of a file whose ids other projects have, in part or all; which ones is not told."""
    connection = planner.connection
    await connection.execute(isolation.ENTER_WITHIN_TRANSACTION, isolation.state(projects.ALL))
    taken = " OR ".join(
        f"""
        EXISTS (SELECT FROM import_rows r JOIN {table} t ON t.id = r.target_id
                WHERE r.job_id = %(job)s AND r.kind = '{kind}' AND r.action = 'create')
        """
        for kind, table in _TABLES.items()
    )
    is_taken = await fetch_value(connection, f"SELECT {taken}", {"job": planner.job.id})
    await connection.execute(isolation.ENTER_WITHIN_TRANSACTION, isolation.state(planner.job.project_id))
    if is_taken:
        await planner.run(
            "UPDATE import_rows SET action = 'conflict', code = %(code)s, problems = json_build_array("
            "json_build_object('name', NULL, 'code', %(code)s::text, 'message', %(message)s::text))"
            " WHERE job_id = %(job)s AND action = 'create'",
            code=IDS_TAKEN,
            message="Ids of the file are taken elsewhere in this installation, and a restore keeps ids: nothing is"
            " created. Import the file without mode=restore, with new ids.",
        )


async def _plan_deletions(planner: _Planner) -> None:
    """Add what the file does not have of the scope: to be deleted, or only reported; too many are refused."""
    options = planner.options
    if options["missing"] == Missing.KEEP:
        return
    field, value = scope_of(options["scope"])
    condition = "%(value)s = ANY(t.tags)" if field == "tag" else f"t.{field} = %(value)s"
    for kind in KINDS:
        has_rows = await fetch_value(
            planner.connection, "SELECT EXISTS (SELECT FROM plan WHERE kind = %s)", (kind.name,)
        )
        if not has_rows:
            continue
        in_scope = await fetch_value(
            planner.connection, f"SELECT count(*) FROM {kind.table} t WHERE {condition}", {"value": value}
        )
        missing = f"""
        SELECT t.* FROM {kind.table} t
        WHERE {condition} AND NOT EXISTS (
            SELECT FROM plan p WHERE p.kind = '{kind.name}'
                AND (p.target_id = t.id OR p.holder = t.id OR p.external_id = t.external_id))
        """
        number = await fetch_value(planner.connection, f"SELECT count(*) FROM ({missing}) m", {"value": value})
        most = options["max_deletions"]
        if most is None:
            most = max(_MOST_DELETIONS, int(in_scope * _SHARE_OF_DELETIONS))
        action, code = "delete", None
        if options["missing"] == Missing.REPORT:
            action, code = "skip", "missing_in_file"
        elif number > most:
            action, code = "conflict", "too_many_deletions"
        detail = (
            f"{number} {kind.label}s of the scope are not in the file, and at most {most} may be deleted at once;"
            " max_deletions allows more."
        )
        await planner.run(
            f"""
            INSERT INTO import_rows (job_id, position, kind, fields, action, code, target_id, target_version, problems)
            SELECT %(job)s, %(last)s + row_number() OVER (ORDER BY m.id), '{kind.name}',
                json_build_object('external_id', m.external_id, 'title', m.title), %(action)s, %(code)s, m.id,
                m.version,
                CASE %(action)s WHEN 'conflict' THEN json_build_array(json_build_object(
                    'name', NULL, 'code', %(code)s::text, 'message', %(detail)s::text)) END
            FROM ({missing}) m
            """,
            last=await _last(planner),
            value=value,
            action=action,
            code=code,
            detail=detail,
        )


async def _last(planner: _Planner) -> int:
    query = "SELECT coalesce(max(position), 0) FROM import_rows WHERE job_id = %s"
    last: int = await fetch_value(planner.connection, query, (planner.job.id,))
    return last


async def count_rows(connection: Connection, job_id: UUID) -> dict[str, dict[str, int]]:
    """Return how many rows of each kind have each action."""
    counts = _no_counts()
    cursor = await connection.execute(
        "SELECT kind, action, count(*) FROM import_rows WHERE job_id = %s GROUP BY 1, 2", (job_id,)
    )
    for row in await cursor.fetchall():
        if row["kind"] in SECTIONS:
            counts[SECTIONS[row["kind"]]][row["action"]] = row["count"]
    return counts


async def _count_by_sheet(connection: Connection, job_id: UUID) -> list[dict[str, Any]]:
    """Return how many rows of each sheet have each kind and action, in the order of the file."""
    sheets: dict[str, dict[str, Any]] = {}
    cursor = await connection.execute(
        "SELECT sheet, kind, action, count(*), min(position) AS first FROM import_rows"
        " WHERE job_id = %s AND sheet IS NOT NULL GROUP BY 1, 2, 3 ORDER BY first",
        (job_id,),
    )
    for row in await cursor.fetchall():
        sheet = sheets.setdefault(row["sheet"], {"sheet": row["sheet"], **_no_counts()})
        if row["kind"] in SECTIONS:
            sheet[SECTIONS[row["kind"]]][row["action"]] = row["count"]
    return list(sheets.values())


def _no_counts() -> dict[str, dict[str, int]]:
    return {section: dict.fromkeys(ACTIONS, 0) for section in SECTIONS.values()}


async def _summary(
    planner: _Planner, counts: Mapping[str, Mapping[str, int]], read: Mapping[str, Any]
) -> dict[str, Any]:
    detail = """
    SELECT remark ->> 'code' AS code, count(*) AS count, min(r.row) AS row,
        (array_agg(remark ->> 'message' ORDER BY r.position))[1] AS message
    FROM import_rows r, json_array_elements(r.{0}) AS remark
    WHERE r.job_id = %(job)s AND r.{0} IS NOT NULL AND {1} GROUP BY 1 ORDER BY 2 DESC, 1
    """
    parameters = {"job": planner.job.id}
    refused = "r.action IN ('error', 'conflict')"
    problems = await (await planner.connection.execute(detail.format("problems", refused), parameters)).fetchall()
    warnings = await (await planner.connection.execute(detail.format("warnings", "true"), parameters)).fetchall()
    warnings = [
        {**one, "unclean": one.get("unclean", False) or one["code"] in INCOMPLETE}
        for one in (*read["notices"], *_about_levels(read["levels"]), *warnings)
    ]
    is_refused = any(of["error"] or of["conflict"] for of in counts.values())
    return {
        "clean": not is_refused and not any(one["unclean"] for one in warnings),
        "problems": problems,
        "warnings": warnings,
        "defaulted": read["defaulted"],
        "columns": read["columns"],
        "sheets": await _count_by_sheet(planner.connection, planner.job.id),
        "makes_suspect": await _becoming_suspect(planner),
        "to_score": await _count_to_score(planner),
        "levels": read["levels"],
    }


def _about_levels(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the plan says of levels that it makes."""
    if not made:
        return []
    message = f"Applying it makes the levels of the project: {listed([level['name'] for level in made], 'and')}."
    return [{"code": "levels_made", "row": None, "message": message, "count": len(made), "unclean": False}]


async def _becoming_suspect(planner: _Planner) -> int:
    """Return how many links the plan makes suspect: those of items whose meaning changes."""
    changing = " UNION ALL ".join(
        f"""
        SELECT l.id FROM plan p JOIN links l ON l.{kind.name}_id = p.target_id
        WHERE p.kind = '{kind.name}' AND p.action = 'update'
            AND (p.changes::jsonb ?| %(meaning_of_{kind.name})s
                OR {changed_fields("p.changes", f"%(fields_of_{kind.name})s")} <> '{{}}')
        """
        for kind in KINDS
    )
    own = await project_fields.of(planner.connection)
    meanings = {f"meaning_of_{kind.name}": list(kind.meaning) for kind in KINDS}
    meanings |= {f"fields_of_{kind.name}": list(own.meaning[kind.name]) for kind in KINDS}
    number: int = await fetch_value(
        planner.connection, f"SELECT count(DISTINCT id) FROM ({changing}) suspect", meanings
    )
    return number


async def _count_to_score(planner: _Planner) -> int:
    """Return how many items the plan has say something new to those who look for suggestions."""
    number: int = await fetch_value(
        planner.connection,
        "SELECT count(*) FROM plan p WHERE p.kind = ANY(%(kinds)s)"
        " AND (p.action = 'create' OR p.action = 'update' AND p.changes::jsonb ?| %(scored)s)",
        {"kinds": [kind.name for kind in KINDS], "scored": list(SCORED)},
    )
    return number

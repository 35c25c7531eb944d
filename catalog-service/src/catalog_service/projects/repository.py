"""Table `projects`: a row a project that was ever told of, what it wants otherwise than the settings say."""

from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Json

from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_one

# A key is never used again: of a deleted project nothing is news.
_PUT = """
INSERT INTO projects (sequence, archived, deleted, coverage_threshold, gate, name_patterns, expected_lanes,
    result_properties)
VALUES (%(sequence)s, %(archived)s, %(deleted)s, %(coverage_threshold)s, %(gate)s, %(name_patterns)s,
    %(expected_lanes)s, %(result_properties)s)
ON CONFLICT (project_id) DO UPDATE SET sequence = excluded.sequence, archived = excluded.archived,
    deleted = excluded.deleted, coverage_threshold = excluded.coverage_threshold, gate = excluded.gate,
    name_patterns = excluded.name_patterns, expected_lanes = excluded.expected_lanes,
    result_properties = excluded.result_properties
WHERE projects.sequence < excluded.sequence AND NOT projects.deleted
"""


@dataclass(frozen=True, slots=True)
class Project:
    """What a project wants; None: what the settings say.

    `archived`: nothing in it is changed any more.
    `coverage_threshold`: 0..1; `gate`: rules; `name_patterns`: as `contracts.name_patterns` has them;
    `expected_lanes`: what the gate waits for on which branches; `result_properties`: which properties of results name
    test cases and requirements, as `contracts.result_properties` has them.
    """

    archived: bool = False
    deleted: bool = False
    coverage_threshold: float | None = None
    gate: list[dict[str, Any]] | None = None
    name_patterns: list[dict[str, str]] | None = None
    expected_lanes: list[dict[str, Any]] | None = None
    result_properties: dict[str, list[str] | None] | None = None


async def get(connection: Connection) -> Project:
    """Return what is known of the project; one that nothing was told of wants what the settings say."""
    query = (
        "SELECT archived, deleted, coverage_threshold, gate, name_patterns, expected_lanes, result_properties"
        " FROM projects"
    )
    return await fetch_one(connection, Project, query) or Project()


async def put(connection: Connection, sequence: int, project: Project) -> None:
    """Store what a project wants since a place in auth's feed, unless later news is there."""
    await connection.execute(
        _PUT,
        {
            "sequence": sequence,
            "archived": project.archived,
            "deleted": project.deleted,
            "coverage_threshold": project.coverage_threshold,
            "gate": None if project.gate is None else Json(project.gate),
            "name_patterns": None if project.name_patterns is None else Json(project.name_patterns),
            "expected_lanes": None if project.expected_lanes is None else Json(project.expected_lanes),
            "result_properties": None if project.result_properties is None else Json(project.result_properties),
        },
    )


async def to_be_removed(connection: Connection) -> list[str]:
    """Return the deleted projects of which something may be left; those that the connection sees."""
    query = "SELECT project_id FROM projects WHERE deleted AND NOT removed ORDER BY project_id"
    return await fetch_column(connection, query)


async def mark_removed(connection: Connection) -> None:
    """Store that nothing of a deleted project is left."""
    await connection.execute("UPDATE projects SET removed = true")

"""Table `projects`: a row a project that was ever told of, what it wants otherwise than the settings say."""

from dataclasses import dataclass

from chassis.db.database import Connection
from chassis.db.rows import fetch_column, fetch_one
from suggestion_service.engine import Algorithm

# A key is never used again: of a deleted project nothing is news.
_PUT = """
INSERT INTO projects (sequence, deleted, automatic_suggestions, algorithm, threshold, language)
VALUES (%(sequence)s, %(deleted)s, %(automatic_suggestions)s, %(algorithm)s, %(threshold)s, %(language)s)
ON CONFLICT (project_id) DO UPDATE SET sequence = excluded.sequence, deleted = excluded.deleted,
    automatic_suggestions = excluded.automatic_suggestions, algorithm = excluded.algorithm,
    threshold = excluded.threshold, language = excluded.language
WHERE projects.sequence < excluded.sequence AND NOT projects.deleted
"""


@dataclass(frozen=True, slots=True)
class Project:
    """What a project wants; None: what the settings say. `language`: that of all its texts; None: that each shows."""

    deleted: bool = False
    automatic_suggestions: bool | None = None
    algorithm: Algorithm | None = None
    threshold: float | None = None
    language: str | None = None


async def get(connection: Connection) -> Project:
    """Return what is known of the project; one that nothing was told of wants what the settings say."""
    query = "SELECT deleted, automatic_suggestions, algorithm, threshold, language FROM projects"
    return await fetch_one(connection, Project, query) or Project()


async def put(connection: Connection, sequence: int, project: Project) -> bool:
    """Store what a project wants since a place in auth's feed; return whether that is news, none later being there."""
    cursor = await connection.execute(
        _PUT,
        {
            "sequence": sequence,
            "deleted": project.deleted,
            "automatic_suggestions": project.automatic_suggestions,
            "algorithm": project.algorithm,
            "threshold": project.threshold,
            "language": project.language,
        },
    )
    return cursor.rowcount > 0


async def to_be_removed(connection: Connection) -> list[str]:
    """Return the deleted projects of which something may be left; those that the connection sees."""
    query = "SELECT project_id FROM projects WHERE deleted AND NOT removed ORDER BY project_id"
    return await fetch_column(connection, query)


async def mark_removed(connection: Connection) -> None:
    """Store that nothing of a deleted project is left."""
    await connection.execute("UPDATE projects SET removed = true")

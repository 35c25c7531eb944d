"""Table `project_fields`: a row a project that has, or ever had, fields of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Json

from catalog_service.fields.definitions import NONE, PREFIX, Fields, ItemName, ProjectField
from chassis.db.database import Connection
from chassis.db.rows import fetch_one, fetch_value

STALE = "TL001"
"""The SQLSTATE of `fields_as_at`: a statement was made by fields that are others by now."""
_SIDES = ("before", "after")
HAS_FIELDS = "(custom_metadata -> 'fields') IS NOT NULL"
"""What the index on `field_keys` is of."""


@dataclass(frozen=True, slots=True)
class _Stored:
    revision: int
    fields: list[dict[str, Any]]
    former: dict[str, str]


async def read(connection: Connection, *, lock: bool = False) -> tuple[Fields, Mapping[str, str]]:
    """Return the fields of the project, and what kind those were that were removed; `lock` them for a change."""
    query = f"SELECT revision, fields, former FROM project_fields {'FOR UPDATE' if lock else ''}"
    stored = await fetch_one(connection, _Stored, query)
    if stored is None:
        return NONE, {}
    return Fields(stored.revision, map(ProjectField.model_validate, stored.fields), stored.former), stored.former


async def of(connection: Connection) -> Fields:
    """Return the fields of the project as they are now."""
    return (await read(connection))[0]


async def make_row(connection: Connection) -> None:
    """Make the row of a project that has none yet: two who define the first fields wait for one another."""
    await connection.execute(
        "INSERT INTO project_fields (revision, fields, former, updated_at) VALUES (0, '[]', '{}', now())"
        " ON CONFLICT (project_id) DO NOTHING"
    )


async def put(connection: Connection, defined: Sequence[ProjectField], former: Mapping[str, str]) -> Fields:
    """Store the fields of the project in place of what there was; return them."""
    revision = await fetch_value(
        connection,
        "UPDATE project_fields SET revision = revision + 1, fields = %(fields)s, former = %(former)s,"
        " updated_at = %(at)s RETURNING revision",
        {
            "fields": Json([field.model_dump(mode="json") for field in defined]),
            "former": Json(dict(former)),
            "at": datetime.now(UTC),
        },
    )
    return Fields(revision, defined, former)


def changed_fields(changes: str, keys: str) -> str:
    """Return the SQL of an array of the fields, as `field.KEY`, of those `keys` that changes of an item change."""
    before, after = (f"({changes} #> ARRAY['custom_metadata', '{side}', 'fields', key])::text" for side in _SIDES)
    return (
        f"ARRAY(SELECT '{PREFIX}' || key FROM unnest({keys}::text[]) WITH ORDINALITY AS own (key, place)"
        f" WHERE {before} IS DISTINCT FROM {after} ORDER BY place)"
    )


async def count_used(connection: Connection, key: str) -> int:
    """Return how many items have a value of the field `KEY`, or this one of it, `KEY=VALUE`."""
    counts = [
        f"(SELECT count(*) FROM {kind.table} WHERE field_keys(custom_metadata) && %(key)s::text[] AND {HAS_FIELDS})"
        for kind in ItemName
    ]
    return int(await fetch_value(connection, f"SELECT {' + '.join(counts)}", {"key": [key]}))

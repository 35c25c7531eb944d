"""The schema of a new database, made from the models of its service and what they cannot say.

`migrations/before_tables.sql` of a service has what its tables need, such as functions; `migrations/after_tables.sql`
has what needs the tables, such as triggers, and the first rows. Either may be missing.
"""

from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from chassis.db.isolation import isolate

NEEDS_TYPE = "needs_type"
"""In `info` of a table: the type without which a database goes without the table."""

_FIRST_ROWS = tuple(
    f"INSERT INTO {table} VALUES (true, 0)" for table in ("feed_head", "relay_position", "feed_pruning")
)


def create_schema(connection: sa.Connection, metadata: sa.MetaData, scripts: Path) -> None:
    """Create all tables of `metadata` with their policies, and what the SQL in the folder `scripts` adds to them."""
    # Bodies of functions may name tables that are not there yet.
    execute(connection, "SET LOCAL check_function_bodies = off")
    _execute_file(connection, scripts / "before_tables.sql")
    create_tables(connection, [table for table in metadata.sorted_tables if _can_have(connection, table)])
    for statement in _FIRST_ROWS:
        execute(connection, statement)
    _execute_file(connection, scripts / "after_tables.sql")


def create_tables(connection: sa.Connection, tables: Sequence[sa.Table]) -> None:
    """Create tables, each behind those that it refers to; of those with a project, each sees its own rows alone."""
    for table in tables:
        table.create(connection, checkfirst=False)
        if "project_id" in table.columns:
            for statement in isolate(table.name):
                execute(connection, statement)


def execute(connection: sa.Connection, statements: str) -> None:
    """Execute SQL as it is written: without parameters, for which a per cent sign in it would else be taken."""
    connection.exec_driver_sql(statements, execution_options={"no_parameters": True})


def _can_have(connection: sa.Connection, table: sa.Table) -> bool:
    needed = table.info.get(NEEDS_TYPE)
    return needed is None or connection.scalar(sa.select(sa.func.to_regtype(needed))) is not None


def _execute_file(connection: sa.Connection, path: Path) -> None:
    if path.exists():
        execute(connection, path.read_text(encoding="utf-8"))

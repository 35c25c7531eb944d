"""Each table is written by the module of its name in `store/`, and by no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import suggestion_service
from chassis.db.schema import new_metadata
from suggestion_service.models import metadata

SOURCE = Path(suggestion_service.__file__).parent
OWN_TABLES = set(metadata.tables) - set(new_metadata().tables)
BY_TRIGGERS = {"suggestion_counts"}
WRITE = re.compile(r"\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE|COPY)\s+(?:public\.|pg_temp\.)?([a-z_]+)")


def texts(module: ast.AST) -> Iterator[str]:
    """The texts of a module; what is put into an f-string is left out."""
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def tables_written(source: str) -> set[str]:
    return {table for text in texts(ast.parse(source)) for table in WRITE.findall(text)} & OWN_TABLES


def writers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {table: set() for table in OWN_TABLES}
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE)
        if module.parts[0] != "migrations":
            for table in tables_written(path.read_text()):
                found[table].add(str(module))
    return found


def test_each_table_has_one_writer() -> None:
    assert writers() == {table: set() if table in BY_TRIGGERS else {f"store/{table}.py"} for table in OWN_TABLES}


@pytest.mark.parametrize(
    "source",
    [
        'A = "UPDATE runs SET status = %s"',
        'A = f"WITH a AS (INSERT INTO {schema}runs (id) VALUES (1)) SELECT 1"',
        'A = """\nDELETE FROM public.runs r\n"""',
        'connection.execute("COPY pg_temp." "runs FROM STDIN")',
    ],
)
def test_a_write_is_seen(source: str) -> None:
    assert tables_written(source) == {"runs"}


def test_a_lock_is_no_write() -> None:
    assert tables_written('A = "SELECT FROM runs FOR UPDATE OF runs"') == set()

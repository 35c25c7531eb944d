"""What reads files of strangers loads neither a web framework nor a driver of a database."""

import subprocess
import sys

import pytest

_NOT_NEEDED = {
    "fastapi",
    "starlette",
    "anyio",
    "psycopg",
    "sqlalchemy",
    "opentelemetry",
    "aio_pika",
    "httpx",
    "uvicorn",
}


@pytest.mark.parametrize(
    "module",
    ["exchange.registry", "exchange.validation", "exchange.read", "executions.read", "executions.runners.examples"],
)
def test_a_reader_needs_libraries_of_parsing_alone(module: str) -> None:
    program = f"import sys, catalog_service.{module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=600)
    assert set(loaded.stdout.split()) & _NOT_NEEDED == set()

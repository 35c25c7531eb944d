"""What an operator does: the admin commands of one service's messages, and a hand in its database."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg

from acceptance.client import Json
from acceptance.stack import RunningStack


@contextmanager
def stopped(stack: RunningStack, *programs: str) -> Iterator[None]:
    """Inside these programs are stopped; they run again afterwards, come what may."""
    try:
        for program in programs:
            stack.stop_program(program)
        yield
    finally:
        for program in programs:
            stack.start_program(program)


def admin(stack: RunningStack, service: str, *arguments: str) -> str:
    """Run `python -m chassis.admin` for a service, by its short name; return what it says.

    Raises:
        AssertionError: it failed; the message shows why.
    """
    settings = {
        "DATABASE_URL": stack.database_url(f"{service}-service"),
        "INTERNAL_SIGNING_KEY": stack.signing_keys.get(f"{service}-service", ""),
        **{f"{name.removesuffix('-service').upper()}_URL": url for name, url in stack.urls.items()},
    }
    done = subprocess.run(
        [sys.executable, "-m", "chassis.admin", *arguments],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, f"{arguments}: {done.stderr or done.stdout}"
    return done.stdout


def parked(stack: RunningStack, service: str) -> list[Json]:
    """What a service keeps with its error."""
    rows: list[Json] = json.loads(admin(stack, service, "parked", "list", "--json"))
    return rows


def execute(stack: RunningStack, service: str, sql: LiteralString, parameters: Sequence[Any] = ()) -> None:
    """Change something in the database of a service."""
    with psycopg.connect(stack.database_url(f"{service}-service")) as connection:
        connection.execute(sql, parameters)

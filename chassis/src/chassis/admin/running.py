"""How every command runs, and how it fails: one sentence on standard error, and exit code 1."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

import click
import psycopg

from chassis.core.problems import Unavailable
from chassis.core.start_failure import StartFailure
from chassis.db import database_url
from chassis.observability import logs

json_option = click.option("--json", "in_json", is_flag=True, help="Print JSON.")


class Refused(Exception):
    """Why a command does nothing: one sentence."""


def running(command: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a command in an event loop."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        logs.configure("admin", terminal="WARNING")
        try:
            asyncio.run(command(*args, **options))
        except (Refused, StartFailure, Unavailable) as failure:
            raise click.ClickException(str(failure)) from None
        except psycopg.errors.UndefinedTable as failure:
            missing = failure.diag.message_primary
            raise click.ClickException(
                f"This is not the database of such a service ({missing}): check DATABASE_URL, or run the migrations."
            ) from None
        except psycopg.OperationalError as failure:
            raise click.ClickException(
                f"The database failed, nothing was changed: {database_url.reason(failure)}."
            ) from None

    return run

"""Brings the databases to the schema of this version by a command."""

import os
import subprocess
import sys
from collections.abc import Mapping

import psycopg

from chassis.core.start_failure import StartFailure
from chassis.core.version import newest_schema


def migrate(urls: Mapping[str, str]) -> None:
    """Migrate the databases of these services that do not have the schema already; raise StartFailure if one cannot be.

    In a process of its own, so that what migrations need does not stay in this one's memory; one for all of them, since
    most of the time goes into its start.

    Args: the URL of the database of each package.
    """
    old = {package: url for package, url in urls.items() if _version(url) != newest_schema(package)}
    if not old:
        return
    settings = {f"{package}_DATABASE_URL".upper(): url for package, url in old.items()}
    command = [sys.executable, "-m", "chassis.migrations", *old]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StartFailure(done.stderr.strip().rpartition("\n")[2])
    for package, url in old.items():
        if (found := _version(url)) != newest_schema(package):
            raise StartFailure(
                f"The data was written by another version of Traceline ({package} has schema {found}, this version"
                f" needs {newest_schema(package)}); start that version, or set TRACELINE_DATA_DIR to a new folder."
            )


def _version(url: str) -> str | None:
    with psycopg.connect(url) as connection:
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except psycopg.errors.UndefinedTable:
            return None
    return None if row is None else row[0]

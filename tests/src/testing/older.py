"""The databases of an installation of version 0.1.0 that has the demo in it.

The folder `version_0_1_0` has what `pg_dump --inserts` says of each at commit 0f40f50d, 45 seconds after `--demo` was
started in an empty folder; without private keys, and without the name of the server's user.
"""

import lzma
from importlib.resources import files

import psycopg

from chassis.db import isolation

SCHEMAS = {
    "auth_service": "0021",
    "catalog_service": "0037",
    "suggestion_service": "0017",
    "notification_service": "0015",
}
"""The schema of each."""


def restore(package: str, url: str) -> None:
    """Fill the empty database at `url`."""
    dump = lzma.decompress(files("testing").joinpath("version_0_1_0", f"{package}.sql.xz").read_bytes())
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in isolation.BY_SUPERUSER:
            connection.execute(statement)
        connection.execute(dump)

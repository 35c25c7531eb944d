"""Which Traceline this is, for logs, metrics and answers."""

import logging
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from prometheus_client import Gauge

from chassis import __version__

_log = logging.getLogger(__name__)

API = "v1"
"""The version of the API: the prefix below /api."""


def software() -> str:
    """Return the version of the software, such as `1.4.0`."""
    return __version__


@cache
def newest_schema(package: str) -> str:
    """Return the number of the newest migration of service `package`, such as `0010`: the schema that it needs."""
    versions = files(package).joinpath("migrations", "versions")
    return max(file.name.partition("_")[0] for file in versions.iterdir() if file.name.endswith(".py"))


_BUILD = Gauge("traceline_build_info", "Always 1; which Traceline this is.", ("software", "api"))
_SCHEMA = Gauge(
    "traceline_schema_info", "Always 1; the schema that a program needs of its database.", ("program", "schema")
)


def announce(schemas: Mapping[str, str]) -> None:
    """Log which version starts, and show it in the metrics; `schemas` are what programs need of their databases."""
    _BUILD.labels(software(), API).set(1)
    for program, schema in schemas.items():
        _SCHEMA.labels(program, schema).set(1)
    needed = "".join(f", schema {schema} of {program}" for program, schema in schemas.items())
    _log.info("Started: Traceline %s, API %s%s.", software(), API, needed)

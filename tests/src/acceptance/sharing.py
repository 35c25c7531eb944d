"""A pytest plugin: how `make test` shares the tests among processes. Those of one Traceline stay together."""

import os
import re

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

_TRACELINES = {"embedded", "stack", "given"}
"""The parameters of the end-to-end tests: what they talk to."""

_TOGETHER = ("tests/fault/", "tests/edge/", "tests/browser/", "tests/contract/", "chassis/tests/messaging/")
"""Folders that share a Traceline, the documents of all services, or a broker."""

_COPIES = frozenset(
    f"tests/e2e/test_{name}.py"
    for name in ("exchange", "fresh_record", "kill", "one_scale", "process", "real_projects")
)
"""Files whose Tracelines all begin as copies of one that was started once."""

_MOST_PROCESSES = 4


class Sharing(LoadScopeScheduling):  # type: ignore[misc] # the library has no types
    """Gives each process whole files, except for files whose tests share what takes long to start."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        if file.startswith(_TOGETHER):
            return file.rpartition("/")[0]
        if file in _COPIES:
            return "copies"
        parameters = re.split(r"[\[\]-]", test)
        talks_to = _TRACELINES.intersection(parameters) if file.startswith("tests/e2e/") else set()
        return talks_to.pop() if talks_to else file


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes there are: two more than cores, since much of it is waiting for services to start."""
    return min(_MOST_PROCESSES, (os.cpu_count() or 1) + 2)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Sharing:
    """Have the tests shared out so; see pytest-xdist."""
    return Sharing(config, log)

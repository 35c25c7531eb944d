"""A pytest plugin: the end of `make test` says how long the tests of each folder took together."""

from collections import defaultdict

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds a folder, the slowest first: those of all its tests, over all processes."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[_folder(report.nodeid)] += report.duration
    terminalreporter.section("seconds a folder")
    for folder, took in sorted(seconds.items(), key=lambda one: -one[1]):
        terminalreporter.write_line(f"{took:8.0f}  {folder}")


def _folder(nodeid: str) -> str:
    return nodeid.partition("::")[0].rpartition("/")[0]

"""The stack that faults are made in, and what every test of them ends with.

A test is marked `long` when it would hold up `make test`; `make fault` runs all of them.
"""

from collections.abc import Iterator

import pytest

from acceptance.client import Traceline
from acceptance.collector import Collector
from acceptance.faults import fail_points, invariants
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.process import fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack


@pytest.fixture(scope="package")
def collector() -> Iterator[Collector]:
    """Takes the traces of the stack."""
    with Collector() as collector:
        yield collector


@pytest.fixture(scope="package")
def stack(collector: Collector) -> Iterator[RunningStack]:
    """One for all tests that leave it as they found it; its programs die where `fail_points` are armed.

    Its traces are recorded: what is recorded must never be in the way either. Coverage is judged after each change, and
    requests wait a second for a service that is stopped.
    """
    settings = {"COVERAGE_REST_SECONDS": "0", "RESTART_PATIENCE_SECONDS": "1", **collector.settings}
    with (
        fresh_folder() as place,
        RunningStack(place, overrides=fail_points.overrides(place), **settings) as running,
    ):
        yield running


@pytest.fixture
def admin(stack: RunningStack) -> Iterator[Traceline]:
    """Somebody who may do everything, over connections of their own."""
    with Traceline(stack.base_url) as anyone:
        yield anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


@pytest.fixture
def history() -> History:
    return History()


@pytest.fixture
def hold(stack: RunningStack, admin: Traceline, history: History) -> Hold:
    """Checks every invariant, once everything has drained."""

    def check(*, within: float = 300.0) -> None:
        invariants.hold(stack, admin, history, within=within)

    return check

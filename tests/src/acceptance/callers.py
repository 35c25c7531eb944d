"""Who asks a running Traceline: fixtures for a conftest that says where it is (`base_url`) and who is its `admin`."""

import os
from collections.abc import Iterator

import pytest

from acceptance.client import Traceline

_ONE = "given" if "TRACELINE_URL" in os.environ else "embedded"

in_one_process = pytest.mark.parametrize("running", [_ONE], indirect=True, scope="package")
"""Of what a service answers for, whichever way the processes are started: tried on one deployment, not on both."""

also_below_project = pytest.mark.parametrize(
    ("running", "below_project"),
    [
        pytest.param(_ONE, False, id=_ONE),
        *([pytest.param("stack", False, id="stack")] if _ONE == "embedded" else []),
        pytest.param(_ONE, True, id=f"{_ONE}-project"),
    ],
    indirect=True,
    scope="package",
)
"""Tried on each deployment, and on one of them below a project of its own, too."""


@pytest.fixture(scope="package")
def anyone(base_url: str) -> Iterator[Traceline]:
    """Somebody who has not logged in."""
    with Traceline(base_url) as client:
        yield client


@pytest.fixture(scope="package")
def reviewer(admin: Traceline) -> Traceline:
    """A reviewer."""
    return admin.new_user("reviewer")


@pytest.fixture(scope="package")
def viewer(admin: Traceline) -> Traceline:
    """A viewer."""
    return admin.new_user("viewer")

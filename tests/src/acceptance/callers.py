"""Who asks a running Traceline: fixtures for a conftest that says where it is (`base_url`) and who is its `admin`."""

from collections.abc import Iterator

import pytest

from acceptance.client import Traceline


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

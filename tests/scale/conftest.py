"""What tests of large records share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance.process import fresh_folder


@pytest.fixture
def place() -> Iterator[Path]:
    """Where a test that starts a Traceline of its own may have its data; nothing is there yet."""
    with fresh_folder() as folder:
        yield folder

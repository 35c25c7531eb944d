"""Where the files of real tools are found: beside the data sets, as far as they are on this machine."""

from pathlib import Path

import pytest

from acceptance import datasets

FOLDER = datasets.folder() / "exchange"


def samples(*patterns: str) -> list[object]:
    """Return the files that fit, as parameters of a test that says so when there are none."""
    found = sorted(path for pattern in patterns for path in FOLDER.glob(pattern))
    if found:
        return [pytest.param(path, id=path.name) for path in found]
    return [pytest.param(Path(), marks=pytest.mark.skip(f"NOT RUN: there are no samples in {FOLDER}"), id="none")]

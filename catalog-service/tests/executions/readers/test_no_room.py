"""A reader without room for what it makes of a file: that is no fault of the file."""

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import orjson
import pytest

from catalog_service.executions.read import Order, Refusal, decoded

_FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not _FULL.exists(), reason="a disk that is always full is Linux's")


@pytest.mark.parametrize("tests", [1, 20_000])
def test_results_without_room_for_their_rows_are_refused_as_that(tmp_path: Path, tests: int) -> None:
    report = tmp_path / "junit.xml"
    cases = "".join(f'<testcase classname="a" name="test_{number}"/>' for number in range(tests))
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    order = orjson.dumps(asdict(Order("junit"))).decode()
    with report.open("rb") as file, _FULL.open("wb") as out:
        command = [sys.executable, "-m", "catalog_service.executions.read", order]
        ended = subprocess.run(command, stdin=file, stdout=out, stderr=subprocess.PIPE, check=True)
    found = decoded(ended.stderr.splitlines()[-1])
    assert isinstance(found, Refusal)
    assert (found.status, found.code) == (507, "storage_full")
    assert "TMPDIR" in found.detail

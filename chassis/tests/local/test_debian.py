"""Others who install packages at the same time are waited for, with a patience of its own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chassis.core.start_failure import StartFailure
from chassis.local.debian import wait_for_others

# As apt-get and dpkg lock: a record lock of a process of its own, held until its standard input ends.
_HOLDS = """
import fcntl, sys
with open(sys.argv[1], "wb+") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["var/lib/dpkg/lock-frontend", "var/lib/apt/lists/lock"])
def holder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that installs something in the system below `tmp_path`."""
    lock = tmp_path / request.param
    lock.parent.mkdir(parents=True)
    command = [sys.executable, "-c", _HOLDS, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_who_installs_packages_is_named_when_patience_ends(
    holder: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StartFailure, match=rf"\(process {holder.pid}\) has been installing packages"):
        wait_for_others(tmp_path, patience=0)
    with pytest.raises(StartFailure):
        wait_for_others(tmp_path, patience=0.5)
    assert f"(process {holder.pid}) is installing packages: waiting" in capsys.readouterr().out


def test_it_goes_on_when_the_other_is_done(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    holder.communicate()
    wait_for_others(tmp_path, patience=0)


def test_nobody_is_waited_for_where_nothing_is_installed(tmp_path: Path) -> None:
    wait_for_others(tmp_path, patience=0)

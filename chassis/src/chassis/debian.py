"""Installs packages of Debian and its descendants: the servers and programs that the demo and the tests start."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from chassis.start_failure import StartFailure

_POLICY = Path("/usr/sbin/policy-rc.d")


def can_install() -> bool:
    """Whether packages can be installed here, by this user."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(package: str, is_installed: Callable[[], bool]) -> None:
    """Install a package without starting its service, unless somebody else has meanwhile.

    Raises StartFailure, saying why, when it cannot be installed.
    """
    # Several programs may find it missing at the same time.
    with (Path(tempfile.gettempdir()) / f"traceline-installing-{package}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_installed():
            _without_starting(package)


def _without_starting(package: str) -> None:
    forbid_start = not _POLICY.exists()
    if forbid_start:
        _POLICY.write_text("#!/bin/sh\nexit 101\n")
        _POLICY.chmod(0o755)
    try:
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", package]):
            done = subprocess.run(
                ["apt-get", "-q", *arguments],  # noqa: S607 - a system's own command
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                last = done.stdout.strip().rpartition("\n")[2]
                raise StartFailure(f"{package} could not be installed (apt-get {arguments[0]}: {last}).")
    finally:
        if forbid_start:
            _POLICY.unlink()

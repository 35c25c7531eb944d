"""Installs packages of Debian and its descendants: the servers and programs that the demo and the tests start."""

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from chassis.core.start_failure import StartFailure

PATIENCE = 900
"""Seconds that others who install packages may take: unattended upgrades of a fresh machine take minutes."""

_APT_GET = "apt-get"
_POLICY = Path("/usr/sbin/policy-rc.d")
_LOCKS = ("var/lib/dpkg/lock-frontend", "var/lib/dpkg/lock", "var/lib/apt/lists/lock", "var/cache/apt/archives/lock")
_LOOK_AGAIN = 1.0
_FLOCK = "hhqqi4x"
"""`struct flock` of Linux: type, whence, start, length, process id."""


def can_install() -> bool:
    """Whether packages can be installed here, by this user."""
    return os.geteuid() == 0 and shutil.which(_APT_GET) is not None


def install(package: str, is_installed: Callable[[], bool]) -> None:
    """Install a package without starting its service, unless somebody else has meanwhile.

    Others who install something are waited for. Raises StartFailure, saying why, when it cannot be installed.
    """
    # Several programs may find it missing at the same time.
    with (Path(tempfile.gettempdir()) / f"traceline-installing-{package}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_installed():
            _without_starting(package)


def wait_for_others(root: Path = Path("/"), *, patience: float = PATIENCE) -> None:
    """Return when no process installs packages in `root`; print which one is waited for.

    Raises StartFailure when that takes longer than `patience`, in seconds.
    """
    end = time.monotonic() + patience
    printed = None
    while (holder := _holder(root)) is not None:
        if time.monotonic() >= end:
            raise StartFailure(f"{holder} has been installing packages for {patience:g} s; try again when it is done.")
        if holder != printed:
            sys.stdout.write(
                f"{holder} is installing packages: waiting for it, {patience / 60:g} minutes at most ...\n"
            )
            sys.stdout.flush()
            printed = holder
        time.sleep(_LOOK_AGAIN)


def _holder(root: Path) -> str | None:
    """Return which program holds one of the locks of apt and dpkg: `apt-get (process 4711)`; None when none does."""
    for name in _LOCKS:
        try:
            with (root / name).open("rb+") as file:
                asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
                kind, *_, process = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, asked))
        except OSError:
            continue  # not there, or not ours to open: then apt-get says so
        if kind != fcntl.F_UNLCK:
            try:
                program = Path(f"/proc/{process}/comm").read_text().strip()
            except OSError:
                program = "another program"  # in another container
            return f"{program} (process {process})"
    return None


def _without_starting(package: str) -> None:
    forbid_start = not _POLICY.exists()
    if forbid_start:
        _POLICY.write_text("#!/bin/sh\nexit 101\n")
        _POLICY.chmod(0o755)
    try:
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", package]):
            wait_for_others()
            done = subprocess.run(
                [_APT_GET, "-q", "-o", f"DPkg::Lock::Timeout={PATIENCE}", *arguments],
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

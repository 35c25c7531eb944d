"""Chromium on this machine: what drives it is Playwright."""

import os
import shutil

from chassis.core.start_failure import StartFailure
from chassis.local import debian

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def program() -> str:
    """Return the program that CHROMIUM names or that is here, installed first where that is possible.

    Raises StartFailure, which says what to do, when there is none.
    """
    named = os.environ.get("CHROMIUM")
    names = (named,) if named else _NAMES
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None and not named and debian.can_install():
        debian.install("chromium", lambda: shutil.which("chromium") is not None)
        found = shutil.which("chromium")
    if found is None:
        raise StartFailure(f"There is no {' nor '.join(names)} here. Install Chromium, or set CHROMIUM to the program.")
    return found


def arguments() -> list[str]:
    """Return what it is started with: as root it has no sandbox."""
    return ["--no-sandbox"] if os.geteuid() == 0 else []

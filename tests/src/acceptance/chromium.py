"""Chromium on this machine: what drives it is Playwright."""

import os
import shutil

from chassis.core.start_failure import StartFailure
from chassis.local import debian

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OF_PLAYWRIGHT = (
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    "ThirdPartyStoragePartitioning",
)
"""What Playwright switches off: whoever switches off more has to name it again."""
_AROUND_THE_PAGE = (
    *("InitialWebUI", "PreloadTopChromeWebUI", "WebUIReloadButton", "WebUIToolbar"),
    *("WebUIOmniboxAimPopup", "WebUIOmniboxPopup", "SpareRendererForSitePerProcess"),
)
"""Pages that each window has for its buttons and its field of addresses, and a process to spare: nobody sees them, and
they take two thirds of what a window takes."""


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
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [f"--disable-features={','.join(_OF_PLAYWRIGHT + _AROUND_THE_PAGE)}", *sandbox]

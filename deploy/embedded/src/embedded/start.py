"""Takes the address and the data folder, or says at once why that cannot be; then serves."""

import os
from collections.abc import Callable
from pathlib import Path

from starlette.types import ASGIApp

from chassis.observability import logs
from chassis.server.http_server import listen
from embedded.data_folder import DataFolder
from embedded.settings import AllSettings

DEFAULT_FOLDER = Path(".traceline")
DEMO_FOLDER = Path(".traceline-demo")


def start(settings: AllSettings, *, demo: bool = False, wrap: Callable[[ASGIApp], ASGIApp] | None = None) -> None:
    """Run until SIGINT or SIGTERM; raise StartFailure when that cannot be.

    `wrap` gives what stands before the gateway on the same server.
    """
    os.umask(0o077)  # whatever is written is for the owner alone
    own = settings.own
    listener = listen(own.host, own.port, "TRACELINE_HOST or TRACELINE_PORT")
    metrics = None
    if own.metrics_port is not None:
        metrics = listen(own.host, own.metrics_port, "TRACELINE_HOST or TRACELINE_METRICS_PORT")
    folder = DataFolder(own.data_dir or (DEMO_FOLDER if demo else DEFAULT_FOLDER), demo=demo)
    logs.configure("embedded", terminal="WARNING", file=folder.path / "traceline.log", plain=True)
    # Only now: what is wrong with port and folder is said at once, not after a second of imports.
    from embedded.serving import serve

    serve(settings, folder, listener, metrics, demo=demo, wrap=wrap)

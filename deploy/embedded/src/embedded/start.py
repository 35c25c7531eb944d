"""Takes the address and the data folder, or says at once why that cannot be; then serves."""

from collections.abc import Callable

from starlette.types import ASGIApp

from chassis import logs
from chassis.http.server import listen
from embedded.data_folder import DataFolder
from embedded.settings import Settings


def start(settings: Settings, *, demo: bool = False, wrap: Callable[[ASGIApp], ASGIApp] | None = None) -> None:
    """Run until SIGINT or SIGTERM; raise StartFailure when that cannot be.

    `wrap` gives what stands before the gateway on the same server.
    """
    listener = listen(settings.host, settings.port, "TRACELINE_HOST or TRACELINE_PORT")
    metrics = None
    if settings.metrics_port is not None:
        metrics = listen(settings.host, settings.metrics_port, "TRACELINE_HOST or TRACELINE_METRICS_PORT")
    folder = DataFolder(settings.data_dir)
    logs.configure("embedded", terminal="WARNING", file=folder.path / "traceline.log")
    # Only now: what is wrong with port and folder is said at once, not after a second of imports.
    from embedded.serving import serve

    serve(folder.path, listener, metrics, demo=demo, wrap=wrap)

"""Takes the address and the data folder, or says at once why that cannot be; then serves."""

import socket
from collections.abc import Callable

from starlette.types import ASGIApp

from chassis import logs
from chassis.start_failure import StartFailure
from embedded.data_folder import DataFolder
from embedded.settings import Settings


def start(settings: Settings, *, demo: bool = False, wrap: Callable[[ASGIApp], ASGIApp] | None = None) -> None:
    """Run until SIGINT or SIGTERM; raise StartFailure when that cannot be.

    `wrap` gives what stands before the gateway on the same server.
    """
    listener = _listen(settings.host, settings.port)
    folder = DataFolder(settings.data_dir)
    logs.configure(terminal="WARNING", file=folder.path / "traceline.log")
    # Only now: what is wrong with port and folder is said at once, not after a second of imports.
    from embedded.serving import serve

    serve(folder.path, listener, demo=demo, wrap=wrap)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        raise StartFailure(
            f"Traceline cannot listen on {host} port {port} ({error.strerror}); stop what listens there or set"
            " TRACELINE_HOST or TRACELINE_PORT to another address."
        ) from None
    return listener

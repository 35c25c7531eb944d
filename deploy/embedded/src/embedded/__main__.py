"""`python -m embedded [--demo]`: starts Traceline here and serves it until Ctrl-C."""

import argparse
import socket
import sys

from chassis import logs
from embedded.data_folder import DataFolder
from embedded.failure import StartFailure
from embedded.settings import Settings, read


def main() -> int:
    """Run; give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m embedded", description="Traceline in one process.")
    parser.add_argument("--demo", action="store_true", help="load the demo project, once")
    arguments = parser.parse_args()
    try:
        _run(read(Settings), demo=arguments.demo)
    except StartFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _run(settings: Settings, *, demo: bool) -> None:
    listener = _listen(settings.host, settings.port)
    folder = DataFolder(settings.data_dir)
    logs.configure(terminal="WARNING", file=folder.path / "traceline.log")
    # Only now: what is wrong with port and folder is said at once, not after a second of imports.
    from embedded.serving import serve

    serve(folder.path, listener, demo=demo)


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


if __name__ == "__main__":
    sys.exit(main())

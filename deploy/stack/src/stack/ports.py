"""The ports of the loopback address on which the programs of one data folder answer."""

import json
import secrets
import socket
from collections.abc import Iterable
from pathlib import Path

_PORTS = range(20_000, 32_000)
"""Below those that the system gives to connections, so that none of them is taken by chance."""


def assign(file: Path, names: Iterable[str], *, avoid: Iterable[int]) -> dict[str, int]:
    """Give each of `names` a port: the one that `file` remembers, or a new one when somebody listens there now."""
    kept: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    ports: dict[str, int] = {}
    taken = set(avoid)
    for name in names:
        port = kept.get(name) or secrets.choice(_PORTS)
        while port in taken or not _is_free(port):
            port = secrets.choice(_PORTS)
        ports[name] = port
        taken.add(port)
    file.write_text(json.dumps(ports, indent=1) + "\n")
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

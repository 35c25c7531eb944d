"""The ports of the loopback address on which the programs of one data folder answer."""

import json
from collections.abc import Iterable
from pathlib import Path

from chassis.local.free_ports import free_port


def assign(file: Path, names: Iterable[str], taken: set[int]) -> dict[str, int]:
    """Return each of `names` a port: the one that `file` remembers, or a new one when it is in `taken` or in use now.

    They are added to `taken`.
    """
    known: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    ports = {name: free_port(known.get(name), taken) for name in names}
    file.write_text(json.dumps(ports, indent=1) + "\n")
    return ports

"""Runs the benchmarks that are named, or all, and prints their tables; ends by itself."""

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import agents, background, deployed, exchange, footprint, http, messaging, neighbours, stack

_BENCHMARKS = {
    "footprint": footprint.main,
    "http": http.main,
    "agents": agents.main,
    "background": background.main,
    "messaging": messaging.main,
    "stack": stack.main,
    "gateway": deployed.main,
    "exchange": exchange.main,
}


def main() -> int:
    """Run them one after the other, since they share the machine; return the exit code: 1 where a bar is broken."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"one of {', '.join(_BENCHMARKS)}; all without a name; or neighbours, alone: each route once, up to four"
        " times in the first ten minutes where the bar is in doubt",
    )
    parser.add_argument("--routes", default="", metavar="PATTERN", help="of neighbours: only these")
    asked = parser.parse_args()
    known: dict[str, Callable[[Path], bool | None]] = {
        **_BENCHMARKS,
        "neighbours": partial(neighbours.main, routes=asked.routes),
    }
    names = asked.names or list(_BENCHMARKS)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no benchmark {unknown[0]}: choose from {', '.join(known)}")
    is_kept = True
    with tempfile.TemporaryDirectory(prefix="traceline-bench-", ignore_cleanup_errors=True) as folder:
        for name in names:
            is_kept = known[name](Path(folder) / name) is not False and is_kept
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())

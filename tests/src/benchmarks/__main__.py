"""Runs the benchmarks that are named, or all, and prints their tables; ends by itself."""

import argparse
import tempfile
from pathlib import Path

from benchmarks import background, deployed, exchange, footprint, http, messaging, stack

_BENCHMARKS = {
    "footprint": footprint.main,
    "http": http.main,
    "background": background.main,
    "messaging": messaging.main,
    "stack": stack.main,
    "gateway": deployed.main,
    "exchange": exchange.main,
}


def main() -> None:
    """Run them one after the other: they share the machine."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(_BENCHMARKS)}; all without a name")
    names = parser.parse_args().names or list(_BENCHMARKS)
    if unknown := [name for name in names if name not in _BENCHMARKS]:
        parser.error(f"there is no benchmark {unknown[0]}: choose from {', '.join(_BENCHMARKS)}")
    with tempfile.TemporaryDirectory(prefix="traceline-bench-", ignore_cleanup_errors=True) as folder:
        for name in names:
            _BENCHMARKS[name](Path(folder) / name)


if __name__ == "__main__":
    main()

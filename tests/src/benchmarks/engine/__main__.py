"""Runs the parts that are named, or all, and prints their tables; ends by itself."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine import one_item, pairs, starting, whole_run
from benchmarks.engine.sizes import Size

_PARTS = {
    "pairs": (pairs.main, "1kx1k,10kx10k,20kx50k,100kx100k"),
    "one": (one_item.main, "100kx100k"),
    "start": (starting.main, "50kx50k"),
    "run": (whole_run.on_the_stack, "20kx50k,100kx100k"),
    "run-embedded": (whole_run.embedded, "20kx50k,100kx100k"),
}
_UNLESS_NAMED = ("run-embedded",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them one after the other, as they share the machine; return 1 when something came out wrong, else 0.

    Args: the words of the command line, unless they are given.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    default = [name for name in _PARTS if name not in _UNLESS_NAMED]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(_PARTS)}; without a name {', '.join(default)}"
    )
    parser.add_argument("--sizes", help="other sizes than each part has, 1kx1k,20kx50k for example")
    parser.add_argument(
        "--within", type=float, default=900.0, metavar="SECONDS", help="what takes longer is given up; default 900"
    )
    given = parser.parse_args(arguments)
    names = given.names or default
    if unknown := [name for name in names if name not in _PARTS]:
        parser.error(f"there is no part {unknown[0]}: choose from {', '.join(_PARTS)}")
    right = []
    with tempfile.TemporaryDirectory(prefix="traceline-bench-", ignore_cleanup_errors=True) as folder:
        for name in names:
            part, usual = _PARTS[name]
            try:
                sizes = [Size.read(size) for size in (given.sizes or usual).split(",")]
            except ValueError:
                parser.error(f"{given.sizes} names no sizes; write 1kx1k,20kx50k for example")
            right.append(part(Path(folder) / name, sizes, given.within))
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())

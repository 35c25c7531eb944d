"""Runs every benchmark and prints its table; ends by itself."""

import tempfile
from pathlib import Path

from acceptance.bench import background, footprint, http


def main() -> None:
    """Run all, one after the other: they share two cores."""
    with tempfile.TemporaryDirectory(prefix="traceline-bench-", ignore_cleanup_errors=True) as folder:
        footprint.main(Path(folder) / "footprint")
        http.main(Path(folder) / "http")
        background.main(Path(folder) / "background")


if __name__ == "__main__":
    main()

"""`python -m embedded [--demo]`: starts Traceline here and serves it until Ctrl-C."""

import argparse
import sys

from chassis.settings import read
from chassis.start_failure import StartFailure
from embedded.settings import Settings
from embedded.start import start


def main() -> int:
    """Run; give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m embedded", description="Traceline in one process.")
    parser.add_argument("--demo", action="store_true", help="load the demo project, once")
    arguments = parser.parse_args()
    try:
        start(read(Settings), demo=arguments.demo)
    except StartFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m embedded [--demo]`: starts Traceline here and serves it until Ctrl-C."""

import argparse
import sys

from chassis.core.start_failure import StartFailure


def main() -> int:
    """Run; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m embedded", description="Traceline in one process.")
    parser.add_argument("--demo", action="store_true", help="load the demo project, once, into a folder of its own")
    arguments = parser.parse_args()
    try:
        # Only now: Ctrl-C may come during the second that this takes.
        from embedded.settings import read_settings
        from embedded.start import start

        start(read_settings(), demo=arguments.demo)
    except StartFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Traceline was stopped before it was ready.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

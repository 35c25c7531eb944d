"""`python -m stack [--demo]` runs Traceline as processes until Ctrl-C; `python -m stack ctl ...` talks to them."""

import argparse
import sys

from chassis.start_failure import StartFailure


def main() -> int:
    """Run; give the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m stack",
        description="Traceline as processes, watched over by supervisord.",
        epilog="'python -m stack ctl ...' is supervisorctl for it: status, restart catalog-service, stop 'gateway:*'.",
    )
    parser.add_argument("--demo", action="store_true", help="load the demo project, once")
    try:
        # Only now: Ctrl-C may come during the second that this takes.
        from stack.run import control, run

        if sys.argv[1:2] == ["ctl"]:
            control(sys.argv[2:])
        run(demo=parser.parse_args().demo)
    except KeyboardInterrupt:
        return 0  # how it is meant to end
    except StartFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

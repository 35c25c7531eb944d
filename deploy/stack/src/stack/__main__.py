"""`python -m stack [--demo]` runs Traceline as processes until Ctrl-C; with a word more it operates what runs."""

import argparse
import sys

from chassis.core.start_failure import StartFailure

_EPILOG = """\
python -m stack ctl ...           supervisorctl: status, restart catalog-service, stop 'gateway:*'
python -m stack admin WORKER ...  chassis.admin as that program: admin catalog-worker feed
python -m stack run PROGRAM ...   any module with the settings of that program: run auth-worker auth_service.rotate_keys
python -m stack sql SERVICE ...   psql in the database of a service: sql catalog-service
python -m stack backup FOLDER     dumps of all databases, while it runs
python -m stack restore FOLDER    the databases as a backup has them, while it does not run

Which stack is meant says TRACELINE_DATA_DIR."""


def main() -> int:
    """Run; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m stack",
        description="Traceline as processes, watched over by supervisord.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--demo", action="store_true", help="load the demo project, once")
    parser.add_argument("command", nargs="?", metavar="COMMAND ...", help="what to do with what runs; see below")
    try:
        # Only now: Ctrl-C may come during the second that this takes.
        from stack.operating import COMMANDS
        from stack.run import run

        if sys.argv[1:2] and sys.argv[1] in COMMANDS:
            COMMANDS[sys.argv[1]](sys.argv[2:])
            return 0
        options = parser.parse_args()
        if options.command is not None:
            parser.error(f"there is no command {options.command}: choose from {', '.join(COMMANDS)}, alone and first")
        run(demo=options.demo)
    except KeyboardInterrupt:
        return 0  # how it is meant to end
    except StartFailure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

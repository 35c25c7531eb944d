"""Runs a module as `python -m` does, in a process of its own that has most imports behind it.

Importing takes seconds of processor time, and a suite runs some hundred commands.
"""

import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        __name__,
        "chassis.server.process",
        "chassis.admin.connections",
        "chassis.messaging.rebuild",
        "traceline_cli.exchange",
        "traceline_cli.gate",
        "traceline_cli.pull_request.command",
        "traceline_cli.results",
    ]
)


def run(
    module: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    inside: Path | None = None,
    typed: str = "",
    seconds: float = 500,
) -> tuple[int, str, str]:
    """Run a module to its end; return its exit code, standard output and standard error.

    Args:
        environment: all that it gets.
        inside: the folder that it works in, if not the one that this process works in.
        typed: its standard input.
        seconds: how long it may take.

    Raises:
        TimeoutError: it took longer, and was killed.
    """
    with tempfile.TemporaryDirectory(prefix="traceline-command-") as place:
        folder = Path(place)
        (folder / "0").write_text(typed)
        of_it = (module, [*arguments], dict(environment), place, inside or Path.cwd())
        process = _PROCESSES.Process(target=_become, args=of_it)
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"{module} took more than {seconds:g} s.")
        return process.exitcode, (folder / "1").read_text(), (folder / "2").read_text()


def _become(module: str, arguments: list[str], environment: dict[str, str], folder: str, inside: Path) -> None:
    os.chdir(inside)
    os.environ.clear()
    os.environ.update(environment)
    for number, mode in enumerate((os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)):
        opened = os.open(Path(folder) / str(number), mode, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
    sys.argv = [module, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()

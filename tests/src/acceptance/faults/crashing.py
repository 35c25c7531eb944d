"""Runs a program that dies at chosen points, as `kill -9` would have it: fail points without hooks in the product.

`python -m acceptance.faults.crashing MODULE --armed-in FOLDER POINT ...` runs MODULE as `python -m MODULE` does. A
POINT is `before:package.module:function` or `after:package.module:Class.method`. It is armed by a file of its name in
FOLDER: the first process that passes there takes the file away and dies.
"""

import argparse
import functools
import importlib
import inspect
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXIT_CODE = 137


class Point:
    """A place in a program: before the first line of a function, or after its last, its result awaited."""

    def __init__(self, name: str) -> None:
        """Args: ``name`` as above.

        Raises:
            ValueError: it is none.
        """
        self.name = name
        when, module, path = name.split(":")
        if when not in {"before", "after"}:
            raise ValueError(f"{name!r} is no point; write before:package.module:function, or after:...")
        self._is_before = when == "before"
        self._module = module
        self._path = path

    def arm(self, folder: Path) -> Path:
        """Have the next process that passes here die; return the file that is gone when one did."""
        file = folder / self.name
        file.touch()
        return file

    def install(self, folder: Path) -> None:
        """Have the process die here once the file is there."""
        owner: Any = importlib.import_module(self._module)
        *parents, name = self._path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        setattr(owner, name, self._dying(getattr(owner, name), folder / self.name))

    def _dying(self, function: Callable[..., Any], armed: Path) -> Callable[..., Any]:
        def pass_point() -> None:
            try:
                armed.unlink()
            except FileNotFoundError:
                return
            os._exit(EXIT_CODE)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def waiting(*arguments: Any, **options: Any) -> Any:
                if self._is_before:
                    pass_point()
                result = await function(*arguments, **options)
                if not self._is_before:
                    pass_point()
                return result

            return waiting

        @functools.wraps(function)
        def direct(*arguments: Any, **options: Any) -> Any:
            if self._is_before:
                pass_point()
            result = function(*arguments, **options)
            if not self._is_before:
                pass_point()
            return result

        return direct


def main() -> None:
    """Run the program of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("--armed-in", type=Path, required=True)
    parser.add_argument("points", nargs="+", type=Point)
    arguments = parser.parse_args()
    for point in arguments.points:
        point.install(arguments.armed_in)
    sys.argv = [arguments.module]
    runpy.run_module(arguments.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

"""How a command ends: its exit code, and the sentence that says why."""

from enum import IntEnum
from typing import Any

import click


class Exit(IntEnum):
    """What a pipeline can act on."""

    DONE = 0
    NOT_PASSED = 1
    WRONG_USE = 2
    UNREACHABLE = 3
    """The service does not answer, or does not let us in."""
    REFUSED = 4
    TIMED_OUT = 5
    INTERRUPTED = 130
    """By Ctrl-C; shells have this number for it."""


class Failure(click.ClickException):
    """Ends the command; the sentence goes to stderr."""

    def __init__(self, code: Exit, message: str, *, problem: dict[str, Any] | None = None) -> None:
        """`problem` is the problem document that a refused call answers with."""
        super().__init__(message)
        self.problem = problem or {"code": code.name.lower(), "detail": message}
        self.exit_code = code  # type: ignore[misc]  # click documents it as one of each exception

    def of_file(self, file: object) -> "Failure":
        """Return what it is of a file: with its name and, where there is one, the place in it."""
        place = [file, *(self.problem[name] for name in ("line", "column") if self.problem.get(name) is not None)]
        return Failure(Exit(self.exit_code), f"{':'.join(map(str, place))}: {self.message}", problem=self.problem)

    def ending_with(self, code: Exit) -> "Failure":
        """Return the same with another exit code."""
        return Failure(code, self.message, problem=self.problem)

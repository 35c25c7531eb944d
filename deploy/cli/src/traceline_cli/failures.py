"""How a command ends: its exit code, and the sentence that says why."""

from enum import IntEnum

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


class Failure(click.ClickException):
    """Ends the command; the sentence goes to stderr."""

    def __init__(self, code: Exit, message: str, *, problem: str | None = None) -> None:
        """`problem` is the code of the problem document that a refused call answers with."""
        super().__init__(message)
        self.problem = problem
        self.exit_code = code  # type: ignore[misc]  # click documents it as one of each exception

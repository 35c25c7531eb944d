"""A time by which a command is to be done, whatever the servers do that it asks."""

import time

from traceline_cli.failures import Exit, Failure


def silent(where: str, seconds: float) -> Failure:
    """Return the failure of a server that has taken a connection and has not answered in so many seconds."""
    said = f"{where} has not answered within {seconds:g} s."
    return Failure(Exit.TIMED_OUT, f"{said} Look whether it is well; --timeout gives it longer.")


class Deadline:
    """So many seconds from now on; a server that answers nothing, or a byte now and then, does not outlast it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left; none below zero."""
        return max(self._end - time.monotonic(), 0.0)

    def check(self, where: str) -> float:
        """Return the seconds that are left for a call of `where`; raise Failure when there are none."""
        if (left := self.left) <= 0:
            raise silent(where, self.seconds)
        return left

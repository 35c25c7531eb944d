"""The folder that holds all data of one embedded run, and belongs to one process at a time."""

import fcntl
import os
from pathlib import Path

from chassis.start_failure import StartFailure


class DataFolder:
    """Made when it is not there; locked until the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        """Take the folder; raise StartFailure when that cannot be."""
        self.path = path.expanduser().resolve()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StartFailure(
                f"The data folder {self.path} cannot be used ({error.strerror}); set TRACELINE_DATA_DIR to a folder"
                " that you may write to."
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartFailure(
                f"The data folder {self.path} is in use by another run of Traceline; stop that one or set"
                " TRACELINE_DATA_DIR to another folder."
            ) from None

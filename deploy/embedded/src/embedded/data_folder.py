"""The folder that holds all data of one run, and belongs to one process at a time."""

import fcntl
import os
from pathlib import Path

from chassis.core.start_failure import StartFailure

_DEMO = "demo-project"
_LOADED = "loaded\n"
_LOCK = "lock"
_NO_DATA = {_LOCK, _DEMO, "traceline.log", "url"}
"""The files that a start leaves which ended before there were data."""
_BEFORE = {"postgresql", "overrides", "lost+found"}
"""What may be in a folder before its first run."""


class DataFolder:
    """Made when it is not there, closed to other users; locked until the process ends, however it ends."""

    def __init__(self, path: Path, *, demo: bool = False) -> None:
        """Take the folder; raise StartFailure when that cannot be.

        It is taken if it is empty or was taken before; for the demo, if it is empty or was taken for the demo before.
        """
        self.path = path.expanduser().resolve()
        self._demo = self.path / _DEMO
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._refuse_others(demo)
            self._refuse_folders()
            self._lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Not before it is ours: the PostgreSQL of a run by root enters the folder as another user.
            self.path.chmod(0o700)
        except BlockingIOError:
            raise StartFailure(
                f"The data folder {self.path} is in use by another run of Traceline; stop that one or set"
                " TRACELINE_DATA_DIR to another folder."
            ) from None
        except (FileExistsError, NotADirectoryError):
            raise StartFailure(
                f"The data folder {self.path} cannot be used, because there is a file in its place; set"
                " TRACELINE_DATA_DIR to a folder."
            ) from None
        except OSError as error:
            raise StartFailure(
                f"The data folder {self.path} cannot be used ({error.strerror}); set TRACELINE_DATA_DIR to a folder"
                " that you may write to."
            ) from None
        if demo and not self._demo.exists():
            self._demo.write_text("")

    def _refuse_others(self, demo: bool) -> None:
        found = {entry.name for entry in self.path.iterdir()}
        if demo and not self._demo.exists() and (foreign := found - _NO_DATA):
            raise StartFailure(
                f"The data folder {self.path} is not empty and not the demo's ({min(foreign)} is in it): it stays as"
                " it is. Set TRACELINE_DATA_DIR to an empty folder, or leave it unset: the demo then has its own."
            )
        if _LOCK not in found and (foreign := found - _NO_DATA - _BEFORE):
            raise StartFailure(
                f"The data folder {self.path} is not empty and not Traceline's ({min(foreign)} is in it): it stays as"
                " it is. Set TRACELINE_DATA_DIR to a folder that is empty or not there yet."
            )

    def _refuse_folders(self) -> None:
        for name in sorted(_NO_DATA):
            if (self.path / name).is_dir():
                raise StartFailure(
                    f"{self.path / name} is a folder, where Traceline has a file of its own; move it away, or set"
                    " TRACELINE_DATA_DIR to another folder."
                )

    @property
    def has_demo(self) -> bool:
        """Whether the whole demo project was loaded into it."""
        return self._demo.exists() and self._demo.read_text() == _LOADED

    def answers_at(self, address: str | None) -> None:
        """Say in the file `url` where Traceline answers, for scripts; None: nowhere any more."""
        file = self.path / "url"
        if address is None:
            file.unlink(missing_ok=True)
        else:
            file.write_text(f"{address}\n")

    def demo_is_loaded(self) -> None:
        """Remember that it was."""
        self._demo.write_text(_LOADED)

"""A disk without room: how its errors are known, and what is said of it."""

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from chassis.core.problems import StorageFull

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_SAID = tuple(map(os.strerror, sorted(_FULL)))
"""How another program says it, such as PostgreSQL of a quota."""


def is_full(error: BaseException) -> bool:
    """Check whether an error is that a disk is full, or somebody's share of it."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in _FULL
    return any(words in str(error) for words in _SAID)


def no_room_for_files() -> StorageFull:
    """Return the problem of a program that has no room for its temporary files."""
    return StorageFull(
        "There is no room for the files of this request, and nothing of it was stored: who runs Traceline frees space"
        " on the volume of the service's temporary folder (TMPDIR)."
    )


@dataclass(frozen=True, slots=True)
class Volume:
    """The volume that a folder is on, of which so many bytes are kept free."""

    folder: Path
    reserve: int

    def is_full(self) -> bool:
        """Check whether it has no room but the reserve."""
        return shutil.disk_usage(self.folder).free < self.reserve

"""Whether a database has room to store something: known by what it refuses, and looked at while it has none."""

import logging
import time
from collections.abc import Callable

from psycopg.errors import DiskFull

from chassis.core.full_disks import Volume

_log = logging.getLogger(__name__)
_LOOK_AGAIN = 1.0
"""Seconds between two looks whether there is room again."""

PROBE = (
    "CREATE TEMPORARY TABLE probe_of_room ON COMMIT DROP AS"
    " SELECT repeat('x', 1200) AS filling FROM generate_series(1, 800)"
)
"""Stores a megabyte until its transaction ends: what is small may still fit where nothing else does."""


class Storage:
    """The room of a database; `name` returns what that is called, `volume` is that of its server, where it is seen.

    It is full from a refusal, or since nothing but the reserve of the volume is left, until something was stored again.
    """

    def __init__(self, name: Callable[[], str], volume: Volume | None) -> None:
        self.is_full = False
        self._name = name
        self._volume = volume
        self._looked_at = float("-inf")

    @property
    def volume_is_full(self) -> bool:
        """Whether the volume is seen to have nothing but its reserve left."""
        return self._volume is not None and self._volume.is_full()

    def check(self) -> None:
        """Raise DiskFull where the volume is seen to have nothing but its reserve left, which PostgreSQL needs."""
        if self.volume_is_full:
            raise DiskFull("The volume has no space left but the reserve.")

    def is_to_be_looked_at(self) -> bool:
        """Check whether it was full, and a second has gone since that was last looked at; then it is, now."""
        now = time.monotonic()
        is_due = self.is_full and now >= self._looked_at + _LOOK_AGAIN
        if is_due:
            self._looked_at = now
        return is_due

    def note_refusal(self, error: Exception) -> None:
        """Note that something was not stored for want of room; the log has it once."""
        if not self.is_full:
            self.is_full = True
            self._looked_at = time.monotonic()
            _log.error("The database %s stores nothing until its volume has room again: %s", self._name(), error)

    def note_room(self) -> None:
        """Note that there is room."""
        if self.is_full:
            self.is_full = False
            _log.warning("The volume of the database %s has room again", self._name())

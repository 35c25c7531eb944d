"""Zip archives that are written from their beginning to their end: what has been written may have been sent."""

from datetime import datetime
from io import BufferedWriter
from typing import IO, cast
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_BLOCK = 256 * 1024
_LEVEL = 3
"""Of compression: takes half as long as the usual one, for files that are larger by a twentieth."""


class _Forward:
    """A file without a way back, for which `zipfile` writes sizes behind what they are of."""

    def __init__(self, file: IO[bytes]) -> None:
        self.tell = file.tell
        self.write = file.write
        self.flush = file.flush


def write_archive(file: IO[bytes]) -> ZipFile:
    """Return an archive to be written to a file; its entries are compressed."""
    return ZipFile(cast("IO[bytes]", _Forward(file)), "w", ZIP_DEFLATED, compresslevel=_LEVEL)


def begin_entry(archive: ZipFile, name: str, at: datetime) -> IO[bytes]:
    """Return an entry of an archive to be written, however large it becomes; it ends when it is closed."""
    entry = ZipInfo(name, at.timetuple()[:6])
    entry.compress_type = ZIP_DEFLATED
    entry._compresslevel = archive.compresslevel  # type: ignore[attr-defined] # taken for entries without a time alone
    return cast("IO[bytes]", BufferedWriter(archive.open(entry, "w", force_zip64=True), _BLOCK))

"""Zip and tar archives of strangers: their members as streams, within bounds, none of them written anywhere by name."""

import io
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO, Protocol, cast

from chassis.core.wording import shown
from chassis.files.refused import FileRefused
from chassis.files.spools import open_spool

_PIECE = 1 << 16
_FREE = 1 << 20
"""So many bytes may come out of anything, however small it was: the ratio is of what is large."""


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much may come out of an archive, by how much larger than what went in, and of how many members."""

    bytes_out: int = 512 << 20
    ratio: int = 200
    members: int = 10_000


class Archive(Protocol):
    """An open archive."""

    names: tuple[str, ...]
    """The members that are files, in their order, by their names with `/`."""

    def open(self, name: str) -> BinaryIO:
        """Return a member as a seekable stream; reading it raises FileRefused when it breaks a limit or is damaged."""
        ...


def is_archive(head: bytes) -> bool:
    """Check whether a file is a zip, tar or tar.gz, by its first 512 bytes."""
    return _form(head) is not None


def _form(head: bytes) -> str | None:
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"\x1f\x8b"):
        return "tar.gz"
    return "tar" if head[257:262] == b"ustar" else None


@contextmanager
def gunzipped(file: BinaryIO, *, limits: ArchiveLimits | None = None) -> Iterator[BinaryIO]:
    """Open what a seekable gzip holds; any other file is opened as it is. Raise FileRefused for a damaged one."""
    file.seek(0)
    is_gzip = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    if not is_gzip:
        yield file
        return
    with open_spool() as unpacked:
        _gunzip(file, unpacked, limits or ArchiveLimits())
        yield unpacked


@contextmanager
def open_archive(file: BinaryIO, *, limits: ArchiveLimits | None = None) -> Iterator[Archive]:
    """Open a zip, tar or tar.gz, whichever the seekable file is. Raise FileRefused for anything else."""
    limits = limits or ArchiveLimits()
    file.seek(0)
    form = _form(file.read(512))
    file.seek(0)
    if form == "zip":
        with _opened_zip(file, limits) as archive:
            yield _Zip(archive, limits)
    elif form == "tar.gz":
        with open_spool() as unpacked:
            _gunzip(file, unpacked, limits)
            yield _Tar(unpacked, limits)
    elif form == "tar":
        yield _Tar(file, limits)
    else:
        raise FileRefused("This is neither a zip nor a tar archive, or its beginning is damaged.", offset=0)


class _Zip:
    def __init__(self, archive: zipfile.ZipFile, limits: ArchiveLimits) -> None:
        self._archive = archive
        self._limits = limits
        self._out: dict[str, int] = {}
        self._members: dict[str, zipfile.ZipInfo] = {}
        entries = archive.infolist()
        _check_count(len(entries), limits)
        if sum(entry.file_size for entry in entries) > limits.bytes_out:
            raise _too_large(limits)
        for entry in entries:
            name = _checked_name(entry.orig_filename)
            mode = entry.external_attr >> 16
            if entry.flag_bits & 1:
                raise FileRefused(f"{shown(name)} in the archive is encrypted. Pack it without a password.")
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise FileRefused(f"{shown(name)} in the archive is a link or a device, not a file. Leave it out.")
            if name.endswith("/"):
                continue
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise FileRefused(f"{shown(name)} is compressed in a way that is not read. Pack it with deflate.")
            if name in self._members:
                raise FileRefused(f"The archive has {shown(name)} twice.")
            self._members[name] = entry
        self.names = tuple(self._members)

    def open(self, name: str) -> BinaryIO:
        entry = self._members[name]
        try:
            return io.BufferedReader(_Bounded(self, name, self._archive.open(entry)), _PIECE)
        except _DAMAGED as error:
            raise _damaged(name, error) from None

    def count(self, name: str, position: int) -> None:
        """Check how much has come out, now that a member was read up to this position."""
        if position <= self._out.get(name, 0):
            return
        self._out[name] = position
        if position > _FREE and position > self._limits.ratio * self._members[name].compress_size:
            raise FileRefused(
                f"{shown(name)} unpacks to more than {self._limits.ratio} times its size, which is not read."
            )
        if sum(self._out.values()) > self._limits.bytes_out:
            raise _too_large(self._limits)


class _Bounded(io.RawIOBase):
    """A member of a zip, counted while it is read."""

    def __init__(self, archive: _Zip, name: str, member: IO[bytes]) -> None:
        self._archive = archive
        self._name = name
        self._member = member

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._member.read(len(buffer))
        except _DAMAGED as error:
            raise _damaged(self._name, error) from None
        buffer[: len(data)] = data
        self._archive.count(self._name, self._member.tell())
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        try:
            return self._member.seek(offset, whence)
        except _DAMAGED as error:
            raise _damaged(self._name, error) from None

    def tell(self) -> int:
        return self._member.tell()

    def close(self) -> None:
        self._member.close()
        super().close()


class _Tar:
    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        self._members: dict[str, tarfile.TarInfo] = {}
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        headers = _Headers(file)
        total = 0
        try:
            archive = tarfile.open(fileobj=cast(BinaryIO, headers), mode="r:")  # noqa: SIM115 (it owns nothing)
            for number, member in enumerate(archive, 1):
                _check_count(number, limits)
                name = _checked_name(member.name)
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    raise FileRefused(f"{shown(name)} in the archive is a link or a device, not a file. Leave it out.")
                total += member.size
                if total > limits.bytes_out:
                    raise _too_large(limits)
                if member.offset_data + member.size > size:
                    raise FileRefused(f"The archive is cut off in {shown(name)}.", offset=size)
                if name in self._members:
                    raise FileRefused(f"The archive has {shown(name)} twice.")
                self._members[name] = member
        except (tarfile.TarError, ValueError, OverflowError, EOFError, OSError):
            raise FileRefused("The archive is damaged or cut off; pack it anew.") from None
        headers.read = file.read  # type: ignore[method-assign,assignment]
        self._archive = archive
        self.names = tuple(self._members)

    def open(self, name: str) -> BinaryIO:
        return cast(BinaryIO, self._archive.extractfile(self._members[name]))


class _Headers:
    """A tar whose headers are read: none of them makes anything large be read, whatever it says of its size."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _FREE:
            raise FileRefused("A header in the archive is too large.", offset=self._file.tell())
        return self._file.read(size)


_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, NotImplementedError, ValueError)


def _damaged(name: str, error: BaseException) -> FileRefused | MemoryError:
    if _is_out_of_memory(error):
        return MemoryError()
    return FileRefused(f"{shown(name)} in the archive is damaged or cut off; pack it anew.")


def _is_out_of_memory(error: BaseException) -> bool:
    """Check whether it is zlib's Z_MEM_ERROR, which says nothing of the file."""
    return isinstance(error, zlib.error) and str(error).startswith("Error -4 ")


def _too_large(limits: ArchiveLimits) -> FileRefused:
    return FileRefused(f"The file unpacks to more than {limits.bytes_out >> 20} MiB, which is not read.")


def _check_count(count: int, limits: ArchiveLimits) -> None:
    if count > limits.members:
        raise FileRefused(f"The archive has more than {limits.members:,} members.")


def _checked_name(name: str) -> str:
    """Return the name with `/` alone, once it is sure that it lies within the archive."""
    plain = name.replace("\\", "/")
    if not plain or "\0" in plain or plain.startswith("/") or re.match(r"[A-Za-z]:", plain) or ".." in plain.split("/"):
        raise FileRefused(f"The archive has a member {shown(name)}, whose name leads out of it.")
    return plain.removeprefix("./") or plain


@contextmanager
def _opened_zip(file: BinaryIO, limits: ArchiveLimits) -> Iterator[zipfile.ZipFile]:
    try:
        if _directory_size(file) > 512 * limits.members:
            raise FileRefused(f"The archive has more than {limits.members:,} members, or very long names.")
        archive = zipfile.ZipFile(file)
    except _DAMAGED:
        raise FileRefused("The zip archive is damaged or cut off; pack it anew.") from None
    with archive:
        yield archive


def _directory_size(file: BinaryIO) -> int:
    """Return the size of the directory at the end of a zip: it is known before all of it is loaded."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 256))
    tail = file.read()
    at = len(tail) - 22 if tail[-22:-18] == b"PK\5\6" and tail.endswith(b"\0\0") else tail.rfind(b"PK\5\6")
    if at < 0 or at + 16 > len(tail):
        raise zipfile.BadZipFile("its directory is missing")
    (directory,) = struct.unpack_from("<L", tail, at + 12)
    large = tail.rfind(b"PK\6\6", 0, at)
    if large >= 0 and large + 48 <= len(tail):
        (directory,) = struct.unpack_from("<Q", tail, large + 40)
    return int(directory)


def _gunzip(file: BinaryIO, unpacked: BinaryIO, limits: ArchiveLimits) -> None:
    """Unpack a gzip, within the limits."""
    size_in = file.seek(0, io.SEEK_END)
    file.seek(0)
    out = 0
    inflate = zlib.decompressobj(wbits=31)
    try:
        while data := inflate.unconsumed_tail or inflate.unused_data.lstrip(b"\0") or file.read(_PIECE):
            if inflate.eof:
                inflate = zlib.decompressobj(wbits=31)
            piece = inflate.decompress(data, _FREE)
            out += len(piece)
            if out > _FREE and out > limits.ratio * size_in:
                raise FileRefused(f"The file unpacks to more than {limits.ratio} times its size, which is not read.")
            if out > limits.bytes_out:
                raise _too_large(limits)
            unpacked.write(piece)
        unpacked.write(inflate.flush())
    except zlib.error as error:
        if _is_out_of_memory(error):
            raise MemoryError from None
        raise FileRefused("The gzip file is damaged; pack it anew.") from None
    if not inflate.eof:
        raise FileRefused("The gzip file is cut off: its stream does not end.", offset=size_in)
    unpacked.seek(0)

"""Lines of text files, one by one, whatever their encoding and their line ends."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.exchange.refusals import archive_of
from catalog_service.exchange.text import find_encoding, read_lines
from chassis.core.wording import counted, shown
from chassis.files import archives
from chassis.files.archives import Archive

LONGEST_LINE = 1024 * 1024
_MOST_NAMED = 3
"""Of the files of an archive that nobody reads."""
_XML = b"<?xml"
_CARRIAGE_RETURNS = re.compile(r"\r\n?")


def numbered_lines(file: BinaryIO, encoding: str | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers from 1, without their ends: `\\n`, `\\r\\n` or `\\r`.

    Raise Unreadable for a line of more than 1 MiB, for NUL, and for bytes that are not in the encoding.
    """
    number = 0
    for text in read_lines(file, find_encoding(file, encoding)):
        for line in _CARRIAGE_RETURNS.split(text.removesuffix("\n").removesuffix("\r")):
            number += 1
            if len(line) > LONGEST_LINE:
                message = f"The line has {len(line)} characters; at most {LONGEST_LINE} are read."
                raise Unreadable(message, code="too_long", line=number)
            if "\0" in line:
                column = line.index("\0") + 1
                raise Unreadable("The line holds NUL (U+0000): this is no text.", line=number, column=column)
            yield number, line


def guessed_encodings(file: BinaryIO, suffixes: tuple[str, ...], encoding: str | None) -> Iterator[Notice]:
    """Yield a notice for each text, of those that `texts_of` gives, whose encoding has to be guessed."""
    with texts_of(file, suffixes) as texts:
        for path, text in texts:
            if text.read(5) == _XML:
                continue  # it says its encoding
            with named(path):
                found = find_encoding(text, encoding)
            if found.warning:
                yield Notice("encoding_guessed", f"{shown(path)}: {found.warning}" if path else found.warning)


def is_archive(file: BinaryIO) -> bool:
    """Check whether a file is a zip, a tar or a tar.gz, by its first bytes."""
    file.seek(0)
    head = file.read(512)
    file.seek(0)
    return archives.is_archive(head)


@contextmanager
def texts_of(file: BinaryIO, suffixes: tuple[str, ...]) -> Iterator[Iterator[tuple[str | None, BinaryIO]]]:
    """Open a file, or those of an archive that end in one of the suffixes, in the order of their names."""
    if not is_archive(file):
        yield iter([(None, file)])
        return
    with archive_of(file) as archive:
        names = sorted(name for name in archive.names if is_meant(name, suffixes))
        if not names:
            raise Unreadable(f"The archive has no file that ends in {' or '.join(suffixes)}.")
        yield ((name, archive.open(name)) for name in names)


def other_files(names: Iterable[str], what: str) -> Iterator[Notice]:
    """Yield the notice of files of an archive that are not `what` its reader reads, if there are some."""
    others = sorted(name for name in names if is_meant(name, ("",)))
    if others:
        more = f" and {len(others) - _MOST_NAMED:,} more" if len(others) > _MOST_NAMED else ""
        said = f"{', '.join(map(shown, others[:_MOST_NAMED]))}{more}"
        are = counted(len(others), "file of the archive is", "files of the archive are")
        yield Notice("file_not_read", f"{are} no {what}, and not read: {said}.", len(others))


def files_beside(file: BinaryIO, suffixes: tuple[str, ...]) -> Iterator[Notice]:
    """Yield the notice of the files of an archive that end in none of the suffixes, if it is one and has some."""
    if is_archive(file):
        with archive_of(file) as archive:
            yield from other_files(
                (name for name in archive.names if not name.lower().endswith(suffixes)),
                " or ".join(suffixes[:2]),
            )


def is_meant(name: str, suffixes: tuple[str, ...]) -> bool:
    """Check whether a member of an archive is one of those; what macOS adds to archives is not."""
    return name.lower().endswith(suffixes) and not name.startswith("__MACOSX/") and "/._" not in f"/{name}"


@contextmanager
def named(name: str | None) -> Iterator[None]:
    """Say in what is Unreadable which member of an archive it is about."""
    try:
        yield
    except Unreadable as error:
        if name is None:
            raise
        raise Unreadable(
            f"{shown(name)}: {error.message}",
            code=error.code,
            line=error.line,
            column=error.column,
            offset=error.offset,
        ) from None


def suffixes_within(archive: Archive, suffixes: tuple[str, ...]) -> float:
    """Return the share of an archive's files that end in one of the suffixes."""
    names = [name for name in archive.names if is_meant(name, ("",))]
    return sum(name.lower().endswith(suffixes) for name in names) / len(names) if names else 0.0

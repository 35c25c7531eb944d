"""What the chassis refuses of a file, as readers of formats say it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from catalog_service.exchange.records import Unreadable
from chassis.files.archives import Archive, open_archive
from chassis.files.refused import FileRefused
from chassis.files.xml_events import XmlHandler, XmlLimits, read_xml


@contextmanager
def refusals_as_unreadable(member: str | None = None) -> Iterator[None]:
    """Raise Unreadable for what the chassis refuses; `member` is the file of an archive that is being read."""
    try:
        yield
    except FileRefused as refused:
        raise Unreadable(
            f"{member}: {refused.message}" if member else refused.message,
            code=refused.code or "unreadable_file",
            line=refused.line,
            column=refused.column,
            offset=refused.offset,
        ) from None


def xml_of(
    file: BinaryIO,
    handler: XmlHandler,
    *,
    encoding: str | None = None,
    member: str | None = None,
    limits: XmlLimits | None = None,
) -> Iterator[None]:
    """Have a handler take the elements of a file, and yield now and then."""
    with refusals_as_unreadable(member):
        for _ in read_xml(file, handler, limits=limits, encoding=encoding):
            yield


@contextmanager
def archive_of(file: BinaryIO) -> Iterator[Archive]:
    """Open an archive for a reader."""
    with refusals_as_unreadable(), open_archive(file) as archive:
        yield archive


class RootHandler(XmlHandler):
    """The handler of a format whose root element is one of `roots`: refuses any other."""

    roots: tuple[str, ...] = ()
    label = "XML"

    def root(self, tag: str) -> None:
        if tag not in self.roots:
            space, _, local = tag.rpartition("}")
            of = f" of the namespace {space[1:]}" if space else ""
            raise FileRefused(f"This is no {self.label}: its root element is <{local}>{of}, not <{self.roots[0]}>.")


def has_root(head: bytes, *roots: bytes) -> bool:
    """Check whether the first element in the beginning of a file is one of these."""
    at = 0
    while (at := head.find(b"<", at)) >= 0:
        if head.startswith(b"<!--", at):
            at = max(head.find(b"-->", at), at + 1)
            continue
        if head[at + 1 : at + 2] not in b"?!":
            name = re.split(rb"[\s/>]", head[at + 1 : at + 80], maxsplit=1)[0]
            return name.rpartition(b":")[2] in roots
        at += 1
    return False

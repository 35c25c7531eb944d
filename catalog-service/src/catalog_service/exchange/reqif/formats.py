"""How a ReqIF file is told from others."""

import re
from typing import BinaryIO

from catalog_service.exchange.formats import Format
from catalog_service.exchange.reqif.reader import read_reqif, read_reqifz
from chassis.files.archives import Archive

_ROOT = re.compile(rb"<(?:[\w.-]+:)?(REQ-IF|RIF)[\s>]")


def _recognise(file: BinaryIO, name: str) -> float:
    head = file.read(1 << 16)
    return 0.95 if _ROOT.search(head.replace(b"\0", b"")) else 0.0


def _recognise_archive(archive: Archive) -> float:
    return 0.95 if any(one.lower().endswith(".reqif") for one in archive.names) else 0.0


REQIF = Format(
    name="reqif",
    label="ReqIF",
    media_types=("application/x-reqif+xml", "application/reqif+xml"),
    suffixes=(".reqif",),
    recognise=_recognise,
    read=read_reqif,
)
REQIFZ = Format(
    name="reqifz",
    label="ReqIF archive",
    media_types=("application/x-reqif+zip", "application/reqif+zip"),
    suffixes=(".reqifz",),
    recognise_archive=_recognise_archive,
    read=read_reqifz,
)

"""The formats that can be read, by name and by what a file looks like."""

import re
from io import BytesIO
from typing import BinaryIO

from catalog_service.exchange.formats import Format
from catalog_service.exchange.native.formats import JSON, NDJSON
from catalog_service.exchange.readers import (
    doorstop,
    gherkin,
    needs,
    openfasttrace,
    strictdoc,
    testlink,
    testrail,
    zephyr,
)
from catalog_service.exchange.records import Unreadable
from catalog_service.exchange.refusals import archive_of
from catalog_service.exchange.reqif.formats import REQIF, REQIFZ
from catalog_service.exchange.tabular.archive import CSV_ARCHIVE
from catalog_service.exchange.tabular.formats import CSV, XLSX
from chassis.core.problems import UnsupportedMediaType
from chassis.core.wording import shown
from chassis.files.archives import is_archive

FORMATS: tuple[Format, ...] = (
    NDJSON,
    JSON,
    REQIF,
    REQIFZ,
    needs.FORMAT,
    testlink.FORMAT,
    testrail.FORMAT,
    zephyr.FORMAT,
    strictdoc.FORMAT,
    gherkin.FORMAT,
    doorstop.FORMAT,
    openfasttrace.FORMAT,
    CSV_ARCHIVE,
    XLSX,
    CSV,
)
"""A line a format; of two that are equally sure of a file, the one that stands first reads it."""

HEAD = 64 * 1024
_ADVICE = (
    ((".doc", ".docx", ".odt", ".rtf"), "Copy its table into a workbook, and save that as .xlsx."),
    ((".pdf",), "Have the tool that it comes from write a table or ReqIF."),
    ((".ods", ".numbers", ".xlsb"), "Save it as .xlsx."),
    ((".html", ".htm"), "Open it in a spreadsheet program and save it as .xlsx."),
    ((".gz", ".bz2", ".xz", ".7z", ".rar"), "Unpack it, and send what is in it."),
)
"""What to do with files that people have instead of one that can be read."""
_NO_TEXT = ((b"%PDF-", ".pdf"), (b"{\\rtf", ".rtf"))
"""How documents begin that may look like a table of one column."""
_RESULTS = re.compile(rb"<(testsuites?|TestRun|test-run|robot|assemblies)[\s>]")
_GZIP = b"\x1f\x8b"
_PACKED_TREES = (".tar.gz", ".tgz")
_BY_SUFFIX = 0.2
_BY_MEDIA_TYPE = 0.1


def find(name: str) -> Format:
    """Return the format of this name; raise UnsupportedMediaType where there is none."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise unknown_format(f"There is no format {shown(name)}.")


def recognise(file: BinaryIO, file_name: str | None, media_type: str | None) -> Format:
    """Return the format that a seekable file most likely has: by its content, then by its name and its media type.

    A name or a media type that only one format has is enough, so that this format can say what is wrong with the file.
    Raise UnsupportedMediaType for a file of which no format knows anything.
    """
    name = (file_name or "").lower()
    media_type = (media_type or "").split(";")[0].strip().lower()
    content = recognise_content(file, name)
    best, most = None, 0.0
    for known in FORMATS:
        sure = content.get(known.name, 0.0)
        sure += _BY_SUFFIX * name.endswith(known.suffixes) + _BY_MEDIA_TYPE * (media_type in known.media_types)
        if sure > most:
            best, most = known, sure
    file.seek(0)
    is_packed = not content and file.read(2) == _GZIP and not name.endswith(_PACKED_TREES)
    file.seek(0)
    what = f"The file {shown(file_name)}" if file_name else "The file"
    if is_packed:  # whatever its name says of what is in it
        raise unknown_format(f"Unpack it, and send what is in it. {what} is packed by gzip.")
    head = file.read(HEAD)
    file.seek(0)
    no_text = next((suffix for beginning, suffix in _NO_TEXT if head.startswith(beginning)), None)
    if best is None or no_text is not None:
        advice = next((f"{advice} " for suffixes, advice in _ADVICE if (no_text or name).endswith(suffixes)), "")
        if not advice and _RESULTS.search(head):
            advice = "It has results of tests: send it by `traceline results`, or on the page at Results. "
        raise unknown_format(f"{advice}{what} is in no format that can be read.")
    return best


def recognise_content(file: BinaryIO, name: str) -> dict[str, float]:
    """Return how sure each format is of a file by its content; an archive is opened once for all."""
    file.seek(0)
    head = file.read(HEAD)
    if not is_archive(head):
        return {known.name: known.recognise(BytesIO(head), name) for known in FORMATS}
    try:
        with archive_of(file) as archive:
            return {known.name: known.recognise_archive(archive) for known in FORMATS}
    except Unreadable:
        return {}


def unknown_format(reason: str) -> UnsupportedMediaType:
    """Return the problem of a format that is not known, which names those that are."""
    understood = ", ".join(f"{known.name} ({known.label})" for known in FORMATS)
    return UnsupportedMediaType(
        f"{reason} Understood are: {understood}.",
        code="unknown_format",
        members={"formats": [known.name for known in FORMATS]},
    )

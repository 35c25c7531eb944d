"""An export of our own in tables: a zip with a CSV file a kind, and a manifest that says which is which."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

import orjson

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.layout import MARK, check_head
from catalog_service.exchange.records import Record, Unreadable
from catalog_service.exchange.refusals import archive_of
from catalog_service.exchange.tabular.reading import read_table_file
from chassis.files.archives import Archive
from chassis.files.refused import FileRefused

MANIFEST = "manifest.json"
_LONGEST_MANIFEST = 64 * 1024


def _recognise(archive: Archive) -> float:
    try:
        return 0.95 if _manifest(archive) is not None else 0
    except FileRefused:
        return 0


def _read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of the tables, in the order of the manifest. Raise Unreadable."""
    with archive_of(file) as archive:
        manifest = _manifest(archive)
        if manifest is None:
            raise Unreadable(f"The archive has no {MANIFEST} of an export of ours; send its CSV files one by one.")
        check_head(manifest)
        for name in manifest["files"]:
            if name not in archive.names:
                raise Unreadable(f"The archive lacks {name}, which its {MANIFEST} names.", code="cut_off")
            with archive.open(name) as table:
                yield from read_table_file(table, replace(options, encoding="utf-8", file_name=name), "csv")


def _manifest(archive: Archive) -> dict[str, Any] | None:
    """Return what the manifest of an export of ours says; None where there is none."""
    if MANIFEST not in archive.names:
        return None
    with archive.open(MANIFEST) as member:
        try:
            manifest = orjson.loads(member.read(_LONGEST_MANIFEST))
        except orjson.JSONDecodeError:
            return None
    is_ours = isinstance(manifest, dict) and MARK in manifest and isinstance(manifest.get("files"), dict)
    return manifest if is_ours else None


CSV_ARCHIVE = Format(
    name="csvz",
    label="zip of the CSV files of an export of ours",
    media_types=("application/zip",),
    suffixes=(".csv.zip",),
    recognise_archive=_recognise,
    read=_read,
)

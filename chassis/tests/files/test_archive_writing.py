"""Zip archives that are sent while they are written."""

from datetime import UTC, datetime
from io import BytesIO
from zipfile import ZipFile

from chassis.files.archive_writing import begin_entry, write_archive


def test_what_is_written_stays_as_it_is() -> None:
    file = BytesIO()
    archive = write_archive(file)
    seen = []
    for name in ("one", "two"):
        with begin_entry(archive, name, datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)) as entry:
            seen.append(file.getvalue())
            entry.write(name.encode() * 1000)
        seen.append(file.getvalue())
    archive.close()
    assert all(file.getvalue().startswith(part) for part in seen)
    with ZipFile(file) as read:
        assert {name: read.read(name) for name in read.namelist()} == {"one": b"one" * 1000, "two": b"two" * 1000}
        assert read.getinfo("one").date_time == (2026, 1, 2, 3, 4, 6)

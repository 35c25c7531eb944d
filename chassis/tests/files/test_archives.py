"""Archives of strangers: members as streams, and nothing that is larger, elsewhere or other than it says."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.files.archives import ArchiveLimits, open_archive
from chassis.files.refused import FileRefused

FILES = {"one.txt": b"1", "folder/two.txt": b"22\n" * 5}


def zipped(files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            change(entry)
            archive.writestr(entry, content)
    return out.getvalue()


def tarred(files: dict[str, bytes], change: Callable[[tarfile.TarInfo], None] = lambda _: None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            change(entry)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def unpack(data: bytes, limits: ArchiveLimits | None = None) -> dict[str, bytes]:
    with open_archive(io.BytesIO(data), limits=limits) as archive:
        return {name: archive.open(name).read() for name in archive.names}


def refused(data: bytes, limits: ArchiveLimits | None = None) -> str:
    with pytest.raises(FileRefused) as caught:
        unpack(data, limits)
    return caught.value.message


@pytest.mark.parametrize("pack", [zipped, tarred, lambda files: gzip.compress(tarred(files))])
def test_members_are_read(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    assert unpack(pack(FILES)) == FILES


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_members_are_streams_that_can_be_read_again(pack: Callable[[dict[str, bytes]], bytes]) -> None:
    with open_archive(io.BytesIO(pack(FILES))) as archive:
        stream = archive.open("folder/two.txt")
        assert stream.readline() == b"22\n"
        stream.seek(0)
        assert stream.read() == FILES["folder/two.txt"]


def test_a_large_member_of_a_tar_can_be_read_at_once() -> None:
    files = {"large.bin": bytes(range(256)) * 20_000}
    assert unpack(tarred(files)) == files


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", ["../up", "a/../../up", "/root", "C:\\x", "c:x", "..\\up", "\\x"])
def test_names_that_lead_out_are_refused(pack: Callable[[dict[str, bytes]], bytes], name: str) -> None:
    assert "leads out of it" in refused(pack({name: b"x"}))


def test_a_name_with_a_nul_is_refused() -> None:
    assert "leads out of it" in refused(zipped({"good_txt": b"x"}).replace(b"good_txt", b"good\0txt"))


def test_links_and_devices_are_refused() -> None:
    def link(entry: zipfile.ZipInfo) -> None:
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16

    assert "link or a device" in refused(zipped({"x": b"/etc/passwd"}, link))
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
        assert "link or a device" in refused(tarred({"x": b""}, lambda entry, kind=kind: setattr(entry, "type", kind)))


def test_encrypted_members_are_refused() -> None:
    data = bytearray(zipped({"x": b"secret"}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    assert "encrypted" in refused(bytes(data))


def test_compression_that_is_unusual_is_refused() -> None:
    data = zipped({"x": b"x" * 1000}, lambda entry: setattr(entry, "compress_type", zipfile.ZIP_BZIP2))
    assert "deflate" in refused(data)


def test_a_name_twice_is_refused() -> None:
    assert "twice" in refused(zipped({"x_1": b"1", "x_2": b"2"}).replace(b"x_2", b"x_1"))


def test_bombs_are_refused_while_they_unpack() -> None:
    zeros = bytes(3 << 20)
    assert "200 times" in refused(zipped({"x": zeros}))
    assert "200 times" in refused(gzip.compress(tarred({"x": zeros})))


def test_what_comes_out_has_a_limit() -> None:
    noise = struct.pack("<100000I", *((number * 2654435761) % 2**32 for number in range(100_000)))
    limits = ArchiveLimits(bytes_out=1 << 18)
    for data in (zipped({"x": noise}), tarred({"x": noise}), gzip.compress(tarred({"x": noise}))):
        assert "MiB" in refused(data, limits)


def test_a_zip_that_lies_about_its_size_gives_no_more_than_it_says() -> None:
    data = bytearray(zipped({"x": bytes(range(256)) * 100}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<L", 10)
    assert "damaged" in refused(bytes(data))


def test_the_number_of_members_has_a_limit() -> None:
    many = {f"{number}.txt": b"" for number in range(5)}
    limits = ArchiveLimits(members=4)
    assert "more than 4 members" in refused(zipped(many), limits)
    assert "more than 4 members" in refused(tarred(many), limits)


def test_a_directory_that_is_too_large_is_not_loaded() -> None:
    many = {f"{number}-{'n' * 200}.txt": b"" for number in range(100)}
    assert "very long names" in refused(zipped(many), ArchiveLimits(members=10))


def test_a_header_of_a_tar_that_is_too_large_is_not_read() -> None:
    def lie(entry: tarfile.TarInfo) -> None:
        entry.type = tarfile.GNUTYPE_LONGNAME
        entry.size = 1 << 30

    out = tarfile.TarInfo("x")
    lie(out)
    assert "header" in refused(out.tobuf() + bytes(2048))


def test_what_is_no_archive_is_refused() -> None:
    assert "neither a zip nor a tar" in refused(b"hello" * 200)
    assert "neither a zip nor a tar" in refused(b"")


@given(st.sampled_from(["zip", "tar", "tar.gz"]), st.integers(0, 1 << 20))
def test_an_archive_cut_off_anywhere_is_refused_or_read(kind: str, place: int) -> None:
    whole = {"zip": zipped(FILES), "tar": tarred(FILES), "tar.gz": gzip.compress(tarred(FILES))}[kind]
    data = whole[: place % len(whole)]
    try:
        files = unpack(data)
    except FileRefused:
        return
    assert kind == "tar"
    assert files.items() <= FILES.items()


@given(st.sampled_from(["zip", "tar", "tar.gz"]), st.integers(0, 1 << 20), st.integers(1, 255))
def test_a_damaged_archive_is_refused_or_read(kind: str, place: int, change: int) -> None:
    data = bytearray({"zip": zipped(FILES), "tar": tarred(FILES), "tar.gz": gzip.compress(tarred(FILES))}[kind])
    data[place % len(data)] ^= change
    with suppress(FileRefused):
        unpack(bytes(data))

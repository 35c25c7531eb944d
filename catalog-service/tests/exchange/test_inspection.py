"""Archives that are looked at before they are imported: by a process of its own, within bounds."""

import random
import zipfile
from io import BytesIO

import pytest

from catalog_service.exchange.inspection.service import Look, described, inspect
from chassis.core.problems import Invalid, UnsupportedMediaType

FILLING = random.Random(1).randbytes(20_000)
"""So much that a process of its own looks at it."""


def packed(**files: str) -> BytesIO:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("filling.bin", FILLING)
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return file


def look(*, format_name: str = "auto", memory_mib: int = 512) -> Look:
    return Look(format_name, "all", None, None, None, None, None, (), True, memory_mib * 1024**2)


async def test_what_a_process_of_its_own_says_is_what_a_thread_would_say() -> None:
    file = packed(a_feature="Feature: Doors\n  Scenario: Close\n    Given a door\n")
    found = await inspect(file, look())
    assert found == described(file, look())
    assert [row["fields"]["title"] for row in found["rows"]] == ["Close"]


async def test_an_archive_that_is_none_of_what_it_says_is_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedMediaType) as unknown:
        await inspect(packed(a_txt="nothing"), look())
    assert unknown.value.code == "unknown_format"
    with pytest.raises(Invalid, match=r"no file that ends in \.feature"):
        await inspect(packed(a_txt="nothing"), look(format_name="gherkin"))


async def test_an_archive_that_needs_too_much_memory_harms_nobody() -> None:
    large = packed(a_feature="Feature: a\n" + ("  " + "b" * 90 + "\n") * 9_000)
    with pytest.raises(Invalid) as refused:
        await inspect(large, look(memory_mib=64))
    assert refused.value.code in {"reader_ended", "too_large"}

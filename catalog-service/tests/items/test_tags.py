"""Tags of any length are kept and found."""

import random
from typing import Any

import pytest

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


def hard_to_compress(length: int) -> str:
    return "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=length)))


@BOTH
async def test_a_long_tag_is_kept_and_found_as_a_whole(catalog: Any, path: str) -> None:
    tag = hard_to_compress(3000)
    made = await catalog.create(path, tags=[tag, "short"])
    alike = await catalog.create(path, tags=[tag[:-1] + "!"])
    assert made["tags"] == [tag, "short"]
    changed = (await catalog.patch(f"{path}/{alike['id']}", {"tags": [tag[:2500]]})).json()
    assert changed["tags"] == [tag[:2500]]
    found = {
        asked: [item["id"] for item in (await catalog.read(path, tag=asked))["items"]]
        for asked in (tag, tag[:2500], tag[:500], f"{tag},short")
    }
    assert found == {tag: [made["id"]], tag[:2500]: [alike["id"]], tag[:500]: [], f"{tag},short": [made["id"]]}
    excluded = [item["id"] for item in (await catalog.read(path, tag=f"!{tag}", limit=500))["items"]]
    assert alike["id"] in excluded
    assert made["id"] not in excluded

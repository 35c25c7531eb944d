"""Tags: up to their bound they are kept and found; longer ones from before there was one stay, and do no harm."""

import random
from typing import Any

import pytest

from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


def hard_to_compress(length: int) -> str:
    return "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=length)))


@BOTH
async def test_a_long_tag_is_kept_and_found_as_a_whole(catalog: Any, path: str) -> None:
    tag = hard_to_compress(100)
    made = await catalog.create(path, tags=[tag, "short"])
    alike = await catalog.create(path, tags=[tag[:-1] + "!"])
    assert made["tags"] == [tag, "short"]
    changed = (await catalog.patch(f"{path}/{alike['id']}", {"tags": [tag[:80]]})).json()
    assert changed["tags"] == [tag[:80]]
    found = {
        asked: [item["id"] for item in (await catalog.read(path, tag=asked))["items"]]
        for asked in (tag, tag[:80], tag[:50], f"{tag},short")
    }
    assert found == {tag: [made["id"]], tag[:80]: [alike["id"]], tag[:50]: [], f"{tag},short": [made["id"]]}
    excluded = [item["id"] for item in (await catalog.read(path, tag=f"!{tag}", limit=500))["items"]]
    assert alike["id"] in excluded
    assert made["id"] not in excluded


@BOTH
async def test_a_longer_tag_and_more_of_them_are_refused(catalog: Any, path: str) -> None:
    told = problem(await catalog.post(path, catalog.item(tags=["ok", "x" * 101])), 422, field="/tags/1")
    assert told["errors"][0]["code"] == "tag_too_long"
    assert "Shorten it" in told["errors"][0]["message"]
    problem(await catalog.post(path, catalog.item(tags=[str(n) for n in range(101)])), 422, field="/tags")
    made = await catalog.create(path, tags=[str(n) for n in range(99)])
    asked = {"ids": [made["id"]], "tags_add": ["one", "two"]}
    (result,) = (await catalog.post(f"{path}/bulk", asked)).json()["results"]
    assert (result["status"], result["error"]["errors"][0]["code"]) == ("failed", "too_many")
    assert len((await catalog.read(f"{path}/{made['id']}"))["tags"]) == 99


@BOTH
async def test_an_item_with_a_tag_from_before_can_be_read_changed_and_freed_of_it(catalog: Any, path: str) -> None:
    module, old = catalog.word(), hard_to_compress(5000)
    made = await catalog.create(path, module=module)
    table = path[1:].replace("-", "_")
    await catalog.rows(f"UPDATE {table} SET tags = %s WHERE id = %s", [old, "short"], made["id"])
    assert (await catalog.read(f"{path}/{made['id']}"))["tags"] == [old, "short"]
    assert [item["tags"] for item in (await catalog.read(path, module=module))["items"]] == [[old, "short"]]
    changed = await catalog.patch(f"{path}/{made['id']}", {"title": "another"})
    assert (changed.json()["title"], changed.json()["tags"]) == ("another", [old, "short"])
    told = (await catalog.read(f"{path}/facets", module=module, facets="tag"))["facets"]["tag"]
    assert told == [{"value": "short", "count": 1}]
    await catalog.post(f"{path}/bulk", {"ids": [made["id"]], "tags_remove": [old]})
    assert (await catalog.read(f"{path}/{made['id']}"))["tags"] == ["short"]

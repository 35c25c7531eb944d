"""Texts are read for explanations once, and again when they have changed."""

from typing import Any
from uuid import UUID, uuid4

from suggestion_service.review.readings import Readings

PUMP = "the pump stops when the tank is full"


async def test_a_text_is_read_once_until_its_item_changes(service: Any, catalog: Any) -> None:
    texts = [catalog.requirement(PUMP), catalog.test_case(PUMP)]
    tagged = catalog.test_case(PUMP)
    await service.follow()
    readings = Readings(service.database)
    before = await readings.read([*texts, tagged, uuid4()])
    assert before.keys() == {*texts, tagged}

    catalog.change(texts[0], description="a lamp burns in the hall")
    catalog.change(tagged, tags=["hydraulics"])
    await service.follow()
    after = await readings.read([*texts, tagged])
    assert "lamp" in after[texts[0]].words
    assert "hydraul" in after[tagged].words
    assert after[texts[1]] is before[texts[1]]


async def test_what_was_used_last_is_kept(service: Any, catalog: Any) -> None:
    first, second, third = (catalog.test_case(f"{PUMP} {name}") for name in ("one", "two", "three"))
    await service.follow()
    readings = Readings(service.database, most_words=12)

    async def read(item_id: UUID) -> object:
        return (await readings.read([item_id]))[item_id]

    of_first, of_second = await read(first), await read(second)
    assert await read(first) is of_first
    of_third = await read(third)
    assert await read(first) is of_first
    assert await read(third) is of_third
    assert await read(second) is not of_second

"""Equal reads share a query, but never one that began before they were asked for."""

import asyncio

import pytest

from catalog_service.sharing import SharedReads


class Source:
    """Something to read that changes, slowly read."""

    def __init__(self) -> None:
        self.value = 0
        self.reads = 0
        self.go_on = asyncio.Event()

    async def read(self) -> int:
        self.reads += 1
        value = self.value
        await self.go_on.wait()
        return value


async def started(source: Source, reads: int) -> None:
    for _ in range(100):
        if source.reads >= reads:
            return
        await asyncio.sleep(0)
    pytest.fail("the read did not begin")


async def test_equal_reads_that_arrive_together_are_one() -> None:
    source, shared = Source(), SharedReads[int]()
    source.go_on.set()
    assert await asyncio.gather(*(shared.share("key", source.read) for _ in range(20))) == [0] * 20
    assert source.reads == 1


async def test_who_asks_after_a_change_sees_it() -> None:
    source, shared = Source(), SharedReads[int]()
    before = asyncio.create_task(shared.share("key", source.read))
    await started(source, 1)
    source.value = 1
    after = [asyncio.create_task(shared.share("key", source.read)) for _ in range(5)]
    await asyncio.sleep(0)
    source.go_on.set()
    assert await before == 0
    assert await asyncio.gather(*after) == [1] * 5
    assert source.reads == 2
    assert await shared.share("key", source.read) == 1


async def test_a_slow_read_holds_up_no_other() -> None:
    slow, fast, shared = Source(), Source(), SharedReads[int]()
    fast.go_on.set()
    waiting = asyncio.create_task(shared.share("slow", slow.read))
    await started(slow, 1)
    assert await shared.share("fast", fast.read) == 0
    slow.go_on.set()
    assert await waiting == 0


async def test_who_gives_up_takes_the_answer_from_nobody() -> None:
    source, shared = Source(), SharedReads[int]()
    one, other = (asyncio.create_task(shared.share("key", source.read)) for _ in range(2))
    await started(source, 1)
    one.cancel()
    source.go_on.set()
    assert await other == 0
    with pytest.raises(asyncio.CancelledError):
        await one


async def test_an_error_reaches_everybody_and_is_forgotten() -> None:
    shared, source = SharedReads[int](), Source()
    source.go_on.set()

    async def fail() -> int:
        raise ValueError("no")

    errors = await asyncio.gather(*(shared.share("key", fail) for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in errors] == [ValueError] * 3
    assert await shared.share("key", source.read) == 0

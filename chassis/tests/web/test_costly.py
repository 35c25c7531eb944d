"""Costly work in threads: it ends when its caller has gone, and a user has one at once."""

import asyncio
import threading

import pytest

from chassis.core.request_context import actor_id
from chassis.web.costly import Deadline, in_thread


async def test_work_ends_when_nobody_waits_for_it_any_more() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(deadline: Deadline) -> None:
        while not deadline.is_over():
            begun.set()
        ended.set()

    asked = asyncio.create_task(in_thread(3600, work))
    assert await asyncio.to_thread(begun.wait, 60)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert await asyncio.to_thread(ended.wait, 60)


async def test_work_ends_when_its_time_is_over() -> None:
    def work(deadline: Deadline) -> str:
        while not deadline.is_over():
            pass
        return "some of it"

    assert await in_thread(0.01, work) == "some of it"


async def test_a_user_has_one_at_once_and_holds_up_nobody_else() -> None:
    under_way: list[str] = []
    begun, goes_on = threading.Semaphore(0), threading.Event()

    def work(name: str) -> None:
        under_way.append(name)
        begun.release()
        goes_on.wait(60)

    async def ask(user: int, name: str) -> None:
        actor_id.set(user)
        await in_thread(60, lambda _: work(name))

    async with asyncio.TaskGroup() as asked:
        for user, name in ((1, "first"), (1, "second"), (2, "of another")):
            asked.create_task(ask(user, name))
        for _ in range(2):
            assert await asyncio.to_thread(begun.acquire, timeout=60)
        assert sorted(under_way) == ["first", "of another"]
        goes_on.set()
    assert sorted(under_way) == ["first", "of another", "second"]

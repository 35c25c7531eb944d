"""A batch is done as a whole; when that fails, the one item to blame must not hold up the others."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


async def all_or_each(
    items: Sequence[T],
    work: Callable[[Sequence[T]], Awaitable[None]],
    failed: Callable[[T, Exception], Awaitable[None]],
    *,
    fatal: tuple[type[Exception], ...] = (),
) -> None:
    """Do `work` for all items at once or, when that fails, for each alone; `failed` takes each that fails alone.

    What is `fatal` is no item's fault: it is raised.
    """
    try:
        await work(items)
    except fatal:
        raise
    except Exception as error:  # noqa: BLE001 - handed to `failed`
        if len(items) == 1:
            await failed(items[0], error)
            return
        for item in items:
            await all_or_each([item], work, failed, fatal=fatal)

"""Circles: what stands above what must never come back to itself."""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def find_way(parents: Mapping[T, Iterable[T]], start: T, end: T) -> list[T] | None:
    """Return a shortest way upwards from one thing to another, both included; None where there is none."""
    came_from: dict[T, T | None] = {start: None}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == end:
            way = [here]
            while (before := came_from[way[-1]]) is not None:
                way.append(before)
            return way[::-1]
        for above in parents.get(here, ()):
            if above not in came_from:
                came_from[above] = here
                waiting.append(above)
    return None

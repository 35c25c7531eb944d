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


def find_circles(parents: Mapping[T, Iterable[T]]) -> set[tuple[T, T]]:
    """Return the steps upwards, each (below, above), that are part of a circle: by Tarjan's components."""
    order: dict[T, int] = {}
    lowest: dict[T, int] = {}
    component: dict[T, int] = {}
    opened: list[T] = []
    for root in parents:
        if root in order:
            continue
        order[root] = lowest[root] = len(order)
        opened.append(root)
        way = [(root, iter(parents[root]))]
        while way:
            here, left = way[-1]
            above = next(left, None)
            if above is None:
                way.pop()
                if way:
                    lowest[way[-1][0]] = min(lowest[way[-1][0]], lowest[here])
                if lowest[here] == order[here]:
                    while True:
                        last = opened.pop()
                        component[last] = order[here]
                        if last == here:
                            break
            elif above not in order:
                order[above] = lowest[above] = len(order)
                opened.append(above)
                way.append((above, iter(parents.get(above, ()))))
            elif above not in component:
                lowest[here] = min(lowest[here], order[above])
    return {(one, above) for one, of in parents.items() for above in of if component[one] == component[above]}

"""Which hits are ranked together, and positions among them.

To rank a hit takes as long as to find ten: of more than a thousand, the newest thousand are ranked by themselves, then
the next thousand. A position remembers its window by the ages of hits, since others make hits come and go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from chassis.web.keyset import By, Order, Values
from chassis.web.listing import PageRequest

TOGETHER = 1000
"""So many hits, by age, are ranked together."""
_ALL = 2**31 - 1
_AGE = (By("level", int, True), By("created_at", datetime, True), By("type", str), By("id", UUID))
BY_AGE = Order("", _AGE)
"""The order of hits before they are ranked."""


def by_relevance(*, best_first: bool) -> Order:
    """Return the order of hits. A position in it is that of a hit, with the window that it was ranked in before it."""
    ages = tuple(replace(by, nullable=True) for by in _AGE)
    score = By("score", float, descending=best_first)
    return Order(f"relevance:{'desc' if best_first else 'asc'}", (*ages, *ages, score, *_AGE[2:]))


def is_by_relevance(order: Order) -> bool:
    """Check whether an order is one of `by_relevance`."""
    return len(order.columns) > 2 * len(_AGE)


@dataclass(frozen=True, slots=True)
class Window:
    """The hits that are ranked together: those behind the age `start`, up to the age `end`.

    Without `start` from the newest on, without `end` a thousand.
    """

    start: Values | None = None
    end: Values | None = None

    def position(self, hit: Values) -> Values:
        """Return the position of a hit in it: `hit` are its score, type and id."""
        nowhere = (None,) * len(_AGE)
        return (*(self.start or nowhere), *(self.end or nowhere), *hit)

    def inside(self, kind: str | None = None, level: int | None = None) -> str:
        """Return the conditions, behind AND, that hits are in it; `kind` and `level` where all have the same."""
        by_level, by_time, by_type, by_id = _AGE
        if kind is not None:
            by_level, by_type = replace(by_level, column=f"{level}"), replace(by_type, column=f"'{kind}'")
        by_age = Order("", (by_level, by_time, by_type, by_id))
        conditions = ""
        for age, name, within, reach in ((self.start, "start", "", "<="), (self.end, "end", "NOT ", ">=")):
            if age is not None:
                behind = " OR ".join(f"({condition})" for condition, _ in by_age.behind(age, name))
                conditions += f" AND {within}({behind})"
                if age[0] == level:  # an index gives those
                    conditions += f" AND created_at {reach} {_AGE[1].value(f'{name}_1')}"
        return conditions

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `inside`."""
        ages = ((self.start, "start"), (self.end, "end"))
        return {name: value for age, of in ages if age for name, value in BY_AGE.parameters(age, of).items()}


@dataclass(frozen=True, slots=True)
class Cut:
    """What is read of the hits of a window, and of the window behind it: `limit` of them, ranked.

    Without a position, those behind the first `skip`. With `after`, those behind a hit's score, type and id.
    """

    window: Window
    order: Order
    limit: int
    skip: int = 0
    after: Values | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the search: how far to look, and where the page begins."""
        first = self.skip - self.skip % TOGETHER
        windows = 2 if self.skip + self.limit > first + TOGETHER else 1
        near = _ALL if self.window.end else TOGETHER * windows
        before = 1 if first else 0
        return {
            "near": min(near + before, _ALL),
            "first": first - before,
            "before": before,
            "ranked": _ALL if self.window.end else TOGETHER,
            "newest": min(first + near, _ALL),
            "skip": self.skip - first,
            "limit": self.limit,
            **self.window.parameters,
            **({} if self.after is None else _rank(self.order).parameters(self.after)),
        }

    @property
    def behind(self) -> str:
        """The WHERE of hits behind the position."""
        if self.after is None:
            return ""
        return f"WHERE {' OR '.join(f'({condition})' for condition, _ in _rank(self.order).behind(self.after))}"

    def window_of_last(self, ages: Mapping[int, Values], *, later: bool) -> Window:
        """Return the window of the last hit that was read.

        `ages` are of the place 0, which is before the window, of the last place in it, and of the last that was looked
        at; `later`: whether the hit is of the window behind it.
        """
        if self.window.end is not None:
            return self.window
        middle, last = ages.get(TOGETHER), ages[max(ages)]
        return Window(middle, last) if later else Window(self.window.start or ages.get(0), middle or last)


def first_cut(wanted: PageRequest) -> Cut:
    """Return what is to be read for a page."""
    assert wanted.limit is not None, "hits are ranked page by page"
    if wanted.after is None:
        return Cut(Window(), wanted.order, wanted.limit, wanted.skip)
    size = len(_AGE)
    start, end, hit = wanted.after[:size], wanted.after[size : 2 * size], wanted.after[2 * size :]
    window = Window(start if start[0] is not None else None, end)
    return Cut(window, wanted.order, wanted.limit + 1, after=hit)


def next_cut(cut: Cut, found: int) -> Cut | None:
    """Return what is to be read of the window behind, after so many hits; None when the page is full."""
    if cut.window.end is None or found == cut.limit:
        return None
    return Cut(Window(start=cut.window.end), cut.order, cut.limit - found)


def _rank(order: Order) -> Order:
    return Order("", order.columns[2 * len(_AGE) :])

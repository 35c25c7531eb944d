"""Several lists that are paged as one: a page of each, and one position in all of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from fastapi import Request

from chassis.web.keyset import Order, Values
from chassis.web.listing import Fetched, PageRequest, PositionQuery


@dataclass(frozen=True, slots=True)
class PagedTogether:
    """The page of all lists as a whole, and that of each."""

    whole: PageRequest
    parts: tuple[PageRequest, ...]

    def end(self, found: Sequence[Fetched]) -> Values | None:
        """Return the position at the end of the pages, None when each is the last of its list."""
        if all(page.end is None for page in found):
            return None
        # A list that is at its end has no position: nothing is behind it.
        return tuple(
            value
            for part, page in zip(self.parts, found, strict=True)
            for value in page.end or (None,) * len(part.order.columns)
        )


def paged_together(request: Request, query: PositionQuery, orders: Sequence[Order]) -> PagedTogether:
    """Return the page that is asked for of lists in these orders; raise Invalid for a position that is none in them."""
    columns = tuple(replace(by, nullable=True) for order in orders for by in order.columns)
    whole = query.page(request, Order("", columns))
    if whole.after is None:
        return PagedTogether(whole, tuple(replace(whole, order=order) for order in orders))
    places = pairwise(accumulate((len(order.columns) for order in orders), initial=0))
    return PagedTogether(
        whole,
        tuple(_part(whole, order, whole.after[first:end]) for order, (first, end) in zip(orders, places, strict=True)),
    )


def _part(whole: PageRequest, order: Order, after: Values) -> PageRequest:
    if after[-1] is None:
        return PageRequest(order, 0)
    return replace(whole, order=order, after=after)

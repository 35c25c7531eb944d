"""What `expand=texts` adds to suggestions: what both items say, and where the matched terms stand in it."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chassis.web.parameters import parse_expand
from suggestion_service.engine import SpanFinder

_EXPANDABLE = frozenset({"texts"})
_SLOW = 200_000
"""Characters that take a hundredth of a second or more to look through."""
_SIDES = ("requirement", "test_case")
_FIELDS = ("title", "description", "preconditions", "steps", "postconditions", "module", "tags")

Row = dict[str, Any]


def wants_texts(expand: str | None) -> bool:
    """Check whether the texts of the items are asked for; raise Invalid for what cannot be expanded."""
    return "texts" in parse_expand(expand, _EXPANDABLE)


async def add_spans(rows: Sequence[Row]) -> None:
    """Put `spans` into suggestions that were read with their texts.

    They are looked up in the texts that are answered: what changed since the score was made has no span.
    """
    characters = sum(len(text) for row in rows for side in _SIDES for _, text in _texts(row[side]))
    if characters > _SLOW:
        await asyncio.to_thread(_add_spans, rows)
    else:
        _add_spans(rows)


def _add_spans(rows: Sequence[Row]) -> None:
    for row in rows:
        row["spans"] = spans(row)


def spans(row: Row) -> list[Row]:
    """Return the places of the terms that both texts of a suggestion have, in the order of the texts."""
    terms = (row["suggestion_metadata"] or {}).get("matched_terms", [])
    finder = SpanFinder([term["term"] for term in terms])
    found = {
        side: [(field, place) for field, text in _texts(row[side]) for place in finder.find(text)] for side in _SIDES
    }
    in_both = set.intersection(*({place.term for _, place in of_side} for of_side in found.values()))
    return [
        {"side": side, "field": field, "start": place.start, "end": place.end, **terms[place.term]}
        for side, of_side in found.items()
        for field, place in of_side
        if place.term in in_both
    ]


def _texts(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in _FIELDS:
        said = item.get(field)
        if isinstance(said, str):
            yield field, said
        elif isinstance(said, dict):
            yield from ((f"{field}.{step}", said[step]) for step in sorted(said, key=int))
        elif said:
            yield from ((f"{field}.{number}", tag) for number, tag in enumerate(said))

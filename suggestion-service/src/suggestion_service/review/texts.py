"""What `expand=texts` adds to suggestions: what both items say, and where the matched terms stand in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from chassis.web.costly import in_thread
from chassis.web.parameters import parse_expand
from suggestion_service.engine import MOST_CHARACTERS, Span, SpanFinder

_EXPANDABLE = frozenset({"texts"})
_SLOW = 2_000
"""Characters that take a millisecond or more to look through."""
_SECONDS = 3
"""Of work, within which an answer has all spans that it will have."""
_MOST_SPANS = 1_000
"""Of one side of a suggestion."""
_SIDES = ("requirement", "test_case")
_FIELDS = ("title", "description", "preconditions", "steps", "postconditions", "module", "tags")

Row = dict[str, Any]


def wants_texts(expand: str | None) -> bool:
    """Check whether the texts of the items are asked for; raise Invalid for what cannot be expanded."""
    return "texts" in parse_expand(expand, _EXPANDABLE)


async def add_spans(rows: Sequence[Row]) -> None:
    """Put `spans` into suggestions that were read with their texts, and `spans_cut`: whether there may be more.

    They are looked up in the texts that are answered: what changed since the score was made has no span.
    """
    characters = sum(len(text) for row in rows for side in _SIDES for _, text in _texts(row[side]))
    if characters > _SLOW:
        await in_thread(_SECONDS, lambda deadline: _add_spans(rows, deadline.is_over))
    else:
        _add_spans(rows, lambda: False)


def _add_spans(rows: Sequence[Row], is_over: Callable[[], bool]) -> None:
    for row in rows:
        row["spans"], row["spans_cut"] = ([], True) if is_over() else _spans(row, is_over)


def _spans(row: Row, is_over: Callable[[], bool]) -> tuple[list[Row], bool]:
    """Return the places of the terms that both texts have, in the order of the texts, and whether there may be more."""
    metadata = row["suggestion_metadata"] or {}
    terms, languages = metadata.get("matched_terms", []), metadata.get("language", {})
    shown = [term["term"] for term in terms]
    finders = {
        side: SpanFinder(shown, languages.get(side, "en"), languages.get(other))
        for side, other in zip(_SIDES, reversed(_SIDES), strict=True)
    }
    found: dict[str, list[tuple[str, Span]]] = {}
    cut = False
    for side in _SIDES:
        of_side = found[side] = []
        for field, text in _texts(row[side]):
            of_side += [(field, place) for place in finders[side].find(text, _MOST_SPANS - len(of_side), is_over)]
            cut = cut or len(text) > MOST_CHARACTERS or len(of_side) >= _MOST_SPANS or is_over()
            if len(of_side) >= _MOST_SPANS:
                break
    in_both = set.intersection(*({place.term for _, place in of_side} for of_side in found.values()))
    spans = [
        {"side": side, "field": field, "start": place.start, "end": place.end, **terms[place.term]}
        for side, of_side in found.items()
        for field, place in of_side
        if place.term in in_both
    ]
    return spans, cut


def _texts(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in _FIELDS:
        said = item.get(field)
        if isinstance(said, str):
            yield field, said
        elif isinstance(said, dict):
            yield from ((f"{field}.{step}", said[step]) for step in sorted(said, key=int))
        elif said:
            yield from ((f"{field}.{number}", tag) for number, tag in enumerate(said))

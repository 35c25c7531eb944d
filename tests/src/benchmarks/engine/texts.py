"""Seeded texts by the hundred thousand: words of made-up spelling as frequent as those of a language, and matches."""

from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from benchmarks.engine.sizes import Size
from suggestion_service.engine import ItemText, Side

_VOCABULARY = 30_000
_SHORTEST, _LONGEST = 30, 80
_IN_TITLE = 8
_RARER = 300
"""A word is one of the rarer ones when so many are more frequent."""
_MATCHED = 0.6
"""The share of the requirements that have a test of their own."""
_SHARED = (0.5, 0.9)
"""How much of a requirement's rarer words its test has, at least and at most."""
_MODULES, _TAGS = 20, 50
_PRIORITIES = ("critical", "high", "medium", "low")
_TEST_CASES_FROM = 1 << 64

Words = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Item:
    """A requirement or a test case."""

    text: ItemText
    priority: str

    @property
    def whole(self) -> str:
        """All texts as one."""
        text = self.text
        return " ".join([text.title, text.description, text.module or "", *text.tags])


Items = dict[Side, list[Item]]


def make_items(size: Size, seed: int = 1) -> Items:
    """Return requirements and test cases; the same for the same size and seed."""
    random = np.random.default_rng(seed)
    words = _spellings(random)
    left, left_starts = _drawn(random, size.requirements)
    right, right_starts = _drawn(random, size.test_cases)
    matched = int(min(size.requirements, size.test_cases) * _MATCHED)
    requirements = random.permutation(size.requirements)[:matched]
    test_cases = random.permutation(size.test_cases)[:matched]
    _plant(random, (left, left_starts, requirements), (right, right_starts, test_cases))
    labels = np.array([random.integers(most, size=size.items) for most in (_MODULES, _TAGS, len(_PRIORITIES))]).T
    labels[size.requirements :][test_cases] = labels[: size.requirements][requirements]
    return {
        "requirement": _written(words, left, left_starts, labels[: size.requirements]),
        "test_case": _written(words, right, right_starts, labels[size.requirements :]),
    }


def item_id(side: Side, number: int) -> UUID:
    """Return the id of an item by its place on its side."""
    return UUID(int=number + (_TEST_CASES_FROM if side == "test_case" else 0))


def numbers(ids: NDArray[np.object_]) -> Words:
    """Return the places that ids came from."""
    return np.array([one.int % _TEST_CASES_FROM for one in ids.tolist()], np.int64)


def _spellings(random: np.random.Generator) -> list[str]:
    """Return the vocabulary, the most frequent word first."""
    syllables = np.array([first + then for first in "bdfgklmnprstvz" for then in ("a", "e", "i", "o", "u", "an", "or")])
    drawn = syllables[random.integers(len(syllables), size=(2 * _VOCABULARY, 4))]
    lengths = random.integers(2, 5, size=len(drawn)).tolist()
    spelt = dict.fromkeys("".join(word[:length]) for word, length in zip(drawn.tolist(), lengths, strict=True))
    return list(spelt)[:_VOCABULARY]


def _drawn(random: np.random.Generator, items: int) -> tuple[Words, Words]:
    """Draw words by Zipf's law; return the words of all items one after the other, and where those of each begin."""
    starts = np.concatenate(([0], np.cumsum(random.integers(_SHORTEST, _LONGEST + 1, size=items))))
    up_to = np.cumsum(1 / np.arange(1, _VOCABULARY + 1))
    return np.searchsorted(up_to, random.random(starts[-1]) * up_to[-1]), starts


def _plant(random: np.random.Generator, left: tuple[Words, Words, Words], right: tuple[Words, Words, Words]) -> None:
    """Have the k-th of the test cases begin with some of the rarer words of the k-th of the requirements."""
    words, starts, requirements = left
    texts, text_starts, test_cases = right
    items = len(starts) - 1
    row = np.repeat(np.arange(items), np.diff(starts))
    share, partner = np.zeros(items), np.zeros(items, np.int64)
    share[requirements] = random.uniform(*_SHARED, size=len(requirements))
    partner[requirements] = test_cases
    taken = (words >= _RARER) & (random.random(len(words)) < share[row])
    before: Words = np.cumsum(taken) - taken
    place = text_starts[partner[row]] + before - before[starts[:-1]][row]
    taken &= place < text_starts[partner[row] + 1]
    texts[place[taken]] = words[taken]


def _written(words: list[str], drawn: Words, starts: Words, labels: Words) -> list[Item]:
    spelt = np.array(words, object)[drawn].tolist()
    bounds = starts.tolist()
    return [
        Item(
            ItemText(
                title=" ".join(spelt[start : start + _IN_TITLE]),
                description=" ".join(spelt[start + _IN_TITLE : end]),
                module=words[-1 - module],
                tags=(words[-1 - _MODULES - tag],),
            ),
            _PRIORITIES[priority],
        )
        for start, end, (module, tag, priority) in zip(bounds, bounds[1:], labels.tolist(), strict=False)
    ]

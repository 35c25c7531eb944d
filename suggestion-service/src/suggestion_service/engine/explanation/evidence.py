"""What speaks for a pair and against it: the passages that have most in common, and the signs of chance."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from suggestion_service.engine.corpus.snapshot import rare_up_to
from suggestion_service.engine.explanation.reading import Reading
from suggestion_service.engine.text.terms import words_in

_LONGEST_QUOTE = 160
_TERMS_LOOKED_FOR = 12
_NAMED = 3
_ALL_BUT_ONE = 2
"""So many times as often as a rare one."""
_MOST_OF_TITLE = 0.5
_BEGINNING = 5
_MOST_OF_WORD = 0.75


@dataclass(frozen=True, slots=True)
class Common:
    """How many of all `items` have `term`, the rarest that two texts share, and the next; 0 where there is none."""

    term: str
    rarest: int
    next: int
    items: int

    @property
    def all(self) -> bool:
        """Whether all terms are common ones."""
        return self.rarest > rare_up_to(self.items)

    @property
    def all_but_one(self) -> bool:
        """Whether all terms but one are common ones."""
        return not self.next or self.next > _ALL_BUT_ONE * rare_up_to(self.items)


@dataclass(frozen=True, slots=True)
class Against:
    """A sign that a pair is alike by chance: `code` for programs, `detail` for people."""

    code: str
    detail: str


def quote(reading: Reading, weights: Mapping[str, float]) -> str | None:
    """Return the passage of an item that has the most of what counts, cut at words with … where it is long.

    `weights`: those of the shared terms, best first. The title is shown anyway: it is quoted only where
    no other passage has any of them.
    """
    scores = [0.0] * len(reading.passages)
    for term, weight in islice(weights.items(), _TERMS_LOOKED_FOR):
        if bits := reading.passages_with.get(term):
            for place in _bits(bits):
                scores[place] += weight
    for place, passage in enumerate(reading.passages):
        if scores[place] and not any(map(str.isalpha, passage)):
            scores[place] = 0.0
    scored = scores[reading.titles :] if any(scores[reading.titles :]) else scores
    best = max(scored, default=0.0)
    if best == 0.0:
        return None
    passage = reading.passages[scores.index(best, len(scores) - len(scored))].rstrip(";, ")
    return passage if len(passage) <= _LONGEST_QUOTE else _cut(passage, weights, reading)


@lru_cache(maxsize=4096)
def _bits(bits: int) -> tuple[int, ...]:
    return tuple(place for place in range(bits.bit_length()) if bits >> place & 1)


def _cut(passage: str, weights: Mapping[str, float], reading: Reading) -> str:
    """Return the part of a long passage in which the most that counts stands together."""
    begins, ends, weighs = [], [], []
    weighing = weights.keys()
    for word in words_in(passage):
        terms = reading.terms_of(word[0])
        if weighing.isdisjoint(terms):
            continue
        weight = max(weights.get(term, 0.0) for term in terms)
        if weight > 0.0:
            begin, end = word.span()
            begins.append(begin)
            ends.append(end)
            weighs.append(weight)
    best, start, stop = 0.0, 0, 0
    for first, begin in enumerate(begins):
        behind = bisect_right(ends, begin + _LONGEST_QUOTE)
        together = sum(weighs[first:behind])
        if together > best:
            best, start, stop = together, begin, ends[behind - 1]
    start = max(0, start - (_LONGEST_QUOTE - (stop - start)) // 2)
    stop = min(len(passage), start + _LONGEST_QUOTE)
    start = max(0, stop - _LONGEST_QUOTE)
    if start > 0:
        blank = passage.find(" ", start - 1, stop)
        start = blank + 1 if blank >= 0 else start
    if stop < len(passage) and passage[stop] != " ":
        blank = passage.rfind(" ", start, stop)
        stop = blank if blank > start else stop
    return f"{'… ' if start > 0 else ''}{passage[start:stop].strip()}{' …' if stop < len(passage) else ''}"


def against(
    requirement: Reading,
    test_case: Reading,
    common: Common,
    matched: Sequence[str],
    *,
    other_module: bool,
    closer_test_cases: bool,
    closer_requirements: bool,
) -> list[Against]:
    """Name what speaks against a pair that shares at least a term; `matched`: what it shares, as it is shown."""
    rarest = requirement.shown(common.term)
    if rarest in requirement.unspaced:  # two letters of a longer run, as a rule
        rarest = next((run for run in matched if rarest in run), rarest)
    # The letter that a Japanese verb begins with is no word.
    is_word = len(rarest) > 1
    signs: list[Against] = []
    if common.all:
        named = f": the rarest, “{rarest}”, is in {common.rarest} of {common.items} texts" if is_word else ""
        signs.append(Against("only_common_words", f"they share only common words{named}"))
    elif common.all_but_one:
        but_for = f"“{rarest}”" if is_word else "one"
        signs.append(Against("only_common_words", f"but for {but_for} they share only common words"))
    if other_module:
        signs.append(Against("other_module", "they are of different modules"))
    if missing := _missing(requirement, test_case):
        signs.append(
            Against(
                "requirement_title_unmatched",
                f"the test case does not say {missing} as the title of the requirement does",
            )
        )
    if missing := _missing(test_case, requirement):
        signs.append(
            Against(
                "test_case_title_unmatched",
                f"the requirement does not say {missing} as the title of the test case does",
            )
        )
    if closer_test_cases:
        signs.append(Against("closer_test_cases", "other test cases are more like this requirement"))
    if closer_requirements:
        signs.append(Against("closer_requirements", "other requirements are more like this test case"))
    return signs


def alike_words(requirement: Reading, test_case: Reading) -> list[tuple[str, str]]:
    """Return words of two languages that begin alike, as (the requirement's, the test case's); none of one language."""
    if requirement.language == test_case.language:
        return []
    theirs = defaultdict[str, list[str]](list)
    for term in test_case.words:
        if term.isalpha() and len(term) >= _BEGINNING:
            theirs[term[:_BEGINNING]].append(term)
    found: dict[str, tuple[str, str]] = {}
    for term, shown in requirement.words.items():
        if term in test_case.words or term[:_BEGINNING] not in theirs or not term.isalpha():
            continue
        alike, nearest = max((_count_alike(term, other), other) for other in theirs[term[:_BEGINNING]])
        # Many words begin with the same preposition, as “interface” and “intercept” do.
        if alike >= _MOST_OF_WORD * min(len(term), len(nearest)):
            found.setdefault(nearest, (shown, test_case.words[nearest]))
    return list(found.values())[:_NAMED]


def _count_alike(one: str, other: str) -> int:
    """Count the letters that two words begin alike with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _missing(item: Reading, other: Reading) -> str | None:
    """Name words of an item's title that the other item does not have, where these are most of its words."""
    if other.cut or item.language != other.language:
        return None
    # Ids say nothing of what an item is about.
    ids = item.fragments - item.compounds.keys() if item.fragments else item.fragments
    title = [term for term in item.title if term.isalpha() and len(term) > 2 and term not in ids]
    absent = [term for term in title if term not in other.words and term not in other.unspaced]
    if len(absent) <= _MOST_OF_TITLE * len(title):
        return None
    return in_words([item.title[term] for term in absent if item.compounds.get(term, set()).isdisjoint(absent)], _NAMED)


def in_words(words: Sequence[str], most: int) -> str:
    """Return some words in quotation marks, and how many more there are."""
    named = ", ".join(f"“{word}”" for word in words[:most])
    more = len(words) - most
    return f"{named} and {more} more" if more > 0 else named

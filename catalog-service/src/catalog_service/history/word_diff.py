"""How two texts differ, word by word, in bounded time."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Literal, NamedTuple

_SINGLE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Characters of Chinese, Japanese and Korean, which have no blanks between words."""
_WORDS = re.compile(rf"[{_SINGLE}]|[^\W_{_SINGLE}]+|\s+|.", re.DOTALL)
_AT_ONCE = 1_000
_PASSAGES = re.compile(r"[^\n.!?。！？]+[\n.!?。！？]*\s*|[\n.!?。！？]+\s*")
"""Sentences and lines."""

_MOST_PAIRS = 200_000_000
"""Pairs of words that are compared, at a bit of memory each: those of two quite different texts of 45 kB."""
_MOST_CHARACTERS = 500_000
"""Of both texts together, so that they are compared by words at once, and not by sentences and lines first."""
_MOST_EDITS = 400
_MOST_STEPS = 1_000_000
"""For longer texts: how many words may differ, and how often two words are looked at to find these."""
_COINCIDENCE = 15
"""Characters that two texts may have in common, in the middle of a longer change, without being related."""

_Matches = list[tuple[int, int]]
"""The places, in both texts, of what they have in common, in order."""


class Segment(NamedTuple):
    """A run of text: in both, only in the first (`delete`), or only in the second (`insert`)."""

    op: Literal["equal", "delete", "insert"]
    text: str


class Compared(NamedTuple):
    """How two texts differ; `coarse`: where they do, not every part was compared word by word."""

    segments: list[Segment]
    coarse: bool


_IsOver = Callable[[], bool]


def differences(before: str, after: str, is_over: _IsOver = lambda: False) -> Compared:
    """Return how `before` becomes `after`, in order; of what is replaced, the deletion comes first.

    What is equal or deleted makes up `before`, what is equal or inserted makes up `after`. Long texts with many
    differences are compared by sentences and lines first, then by words where these differ; what is too long even so
    is one deletion and one insertion, and so is what is left once `is_over` says that the time is over.
    """
    if len(before) + len(after) <= _MOST_CHARACTERS:
        first, second = _split(_WORDS, before), _split(_WORDS, after)
        matches, is_whole = _matches(first, second, _MOST_PAIRS, is_over)
        if is_whole:
            return Compared(_readable(_changes(first, second, matches)), coarse=False)
    by_passages = _ByPassages(is_over)
    segments = _readable(by_passages.changes(_split(_PASSAGES, before), _split(_PASSAGES, after)))
    return Compared(segments, by_passages.coarse)


def _split(parts: re.Pattern[str], text: str) -> list[str]:
    """Return the parts of a text, found some at a time: findall lets no other thread in until it has all."""
    found = map(itemgetter(0), parts.finditer(text))
    split: list[str] = []
    while some := list(islice(found, _AT_ONCE)):
        split += some
    return split


class _Change(NamedTuple):
    """What is deleted and inserted at a place, and what is equal behind it; each may be empty."""

    deleted: Sequence[str]
    inserted: Sequence[str]
    equal: Sequence[str]


class _ByPassages:
    """Compares passages, then the words of those that differ; `coarse` once some of these were not."""

    def __init__(self, is_over: _IsOver) -> None:
        self.coarse = False
        self._is_over = is_over

    def changes(self, first: Sequence[str], second: Sequence[str]) -> Iterator[_Change]:
        left = _MOST_PAIRS
        for change in _changes(first, second, self._matches(first, second, left)):
            old, new = ("".join(passages) for passages in (change.deleted, change.inserted))
            if old and new:
                if len(old) + len(new) <= _MOST_CHARACTERS:
                    old_words, new_words = _split(_WORDS, old), _split(_WORDS, new)
                    yield from _changes(old_words, new_words, self._matches(old_words, new_words, left))
                    left -= len(old_words) * len(new_words)
                else:
                    self.coarse = True
                    yield _Change((old,), (new,), ())
            else:
                yield _Change(change.deleted, change.inserted, ())
            yield _Change((), (), change.equal)

    def _matches(self, first: Sequence[str], second: Sequence[str], most_pairs: int) -> _Matches:
        matches, is_whole = _matches(first, second, most_pairs, self._is_over)
        self.coarse = self.coarse or not is_whole
        return matches


def _changes(first: Sequence[str], second: Sequence[str], matches: _Matches) -> Iterator[_Change]:
    i = j = 0
    for at, (k, m) in enumerate(matches):
        if at == 0 or (k, m) != (i, j):
            yield _Change(first[i:k], second[j:m], ())
        yield _Change((), (), (first[k],))
        i, j = k + 1, m + 1
    yield _Change(first[i:], second[j:], ())


@dataclass(slots=True)
class _Run:
    """A change that is being put together, and the number of characters of its parts."""

    deleted: list[str] = field(default_factory=list)
    inserted: list[str] = field(default_factory=list)
    equal: list[str] = field(default_factory=list)
    changed: int = 0

    def is_coincidence(self, further: int) -> bool:
        """Check whether what is equal behind this change is no more than an accident before one of `further`."""
        common = "".join(self.equal)
        return not any(map(str.isalnum, common)) or len(common) <= min(_COINCIDENCE, self.changed, further)


def _readable(changes: Iterable[_Change]) -> list[Segment]:
    """Join what belongs together: neighbours, and changes with nothing but an accident between them."""
    runs = [_Run()]
    for deleted, inserted, equal in changes:
        size = max(sum(map(len, deleted)), sum(map(len, inserted)))
        if size and runs[-1].equal:
            runs.append(_Run())
        run = runs[-1]
        run.deleted += deleted
        run.inserted += inserted
        run.equal += equal
        run.changed += size
    joined: list[_Run] = []
    for run in runs:
        if joined and joined[-1].changed and joined[-1].is_coincidence(run.changed):
            last = joined[-1]
            last.deleted += [*last.equal, *run.deleted]
            last.inserted += [*last.equal, *run.inserted]
            last.changed += run.changed
            last.equal = run.equal
        else:
            joined.append(run)
    named = ((op, "".join(getattr(run, part))) for run in joined for op, part in _PARTS)
    return [Segment(op, text) for op, text in named if text]


_PARTS: tuple[tuple[Literal["equal", "delete", "insert"], str], ...] = (
    ("delete", "deleted"),
    ("insert", "inserted"),
    ("equal", "equal"),
)


def _matches(first: Sequence[str], second: Sequence[str], most_pairs: int, is_over: _IsOver) -> tuple[_Matches, bool]:
    """Return the longest that both have in common; of what would take too long, their ends, and False."""
    shorter = min(len(first), len(second))
    start = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    shorter -= start
    end = next((i for i in range(shorter) if first[-1 - i] != second[-1 - i]), shorter)
    a, b = first[start : len(first) - end], second[start : len(second) - end]
    if len(a) * len(b) <= most_pairs:
        middle = _of_rows(a, b, is_over) if len(a) >= len(b) else _swapped(_of_rows(b, a, is_over))
    else:
        middle = _match_few_edits(a, b, is_over)
    matches = [(i, i) for i in range(start)]
    matches += [(start + i, start + j) for i, j in middle or ()]
    matches += [(len(first) - i, len(second) - i) for i in range(end, 0, -1)]
    return matches, middle is not None


def _swapped(matches: _Matches | None) -> _Matches | None:
    return matches and [(i, j) for j, i in matches]


def _of_rows(longer: Sequence[str], shorter: Sequence[str], is_over: _IsOver) -> _Matches | None:
    """Find what both have in common by a row of bits for each word of the shorter (Hyyrö 2004); None: out of time."""
    wanted = set(shorter)
    places: dict[str, bytearray] = {}
    size = len(longer) // 8 + 1
    for i, word in enumerate(longer):
        if word in wanted:
            places.setdefault(word, bytearray(size))[i >> 3] |= 1 << (i & 7)
    where = {word: int.from_bytes(bits, "little") for word, bits in places.items()}
    full = (1 << len(longer)) - 1
    row = full
    rows = []
    for word in shorter:
        if is_over():
            return None
        hits = row & where.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
        rows.append(row.to_bytes(size, "little"))
    matches: _Matches = []
    i, j = len(longer) - 1, len(shorter) - 1
    while i >= 0 and j >= 0:
        if rows[j][i >> 3] >> (i & 7) & 1:
            i -= 1
        elif j and not rows[j - 1][i >> 3] >> (i & 7) & 1:
            j -= 1
        else:
            matches.append((i, j))
            i, j = i - 1, j - 1
    matches.reverse()
    return matches


def _match_few_edits(first: Sequence[str], second: Sequence[str], is_over: _IsOver) -> _Matches | None:
    """Find what both have in common by Myers' greedy algorithm; None when they differ in too much, or out of time."""
    n, m = len(first), len(second)
    furthest = {1: 0}
    steps = 0
    trace: list[dict[int, int]] = []
    for edits in range(_MOST_EDITS + 1):
        trace.append(furthest)
        reached: dict[int, int] = {}
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            begin = i = furthest[k + 1] if down else furthest[k - 1] + 1
            while i < n and 0 <= i - k < m and first[i] == second[i - k]:
                i += 1
            reached[k] = i
            if i >= n and i - k >= m:
                return _traced(trace, k, i)
            steps += i - begin + 1
        if steps > _MOST_STEPS or is_over():
            return None
        furthest = reached
    return None


def _traced(trace: list[dict[int, int]], k: int, i: int) -> _Matches:
    matches: _Matches = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest = trace[edits]
        down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        begin = furthest[k + 1] if down else furthest[k - 1] + 1
        matches += [(at, at - k) for at in range(i - 1, begin - 1, -1)]
        k += 1 if down else -1
        i = begin if down else begin - 1
    matches.reverse()
    return matches

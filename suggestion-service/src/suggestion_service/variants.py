"""Which test cases are variants of one another: the same test with another prefix, parameter or number.

Two are variants when both hold:

- their titles, or their external ids, are equal once numbers and bracketed parameters are taken out and, where it is
  needed, one part: a segment of an identifier (`lay-fxl-title`, `lay-pp-title`), or what is set off at the beginning or
  the end of a sentence (`Chrome: the login fails`, `The login fails - Firefox`)
- what they say beside that is near alike: four of five words are the same, and one does not say no where the other says
  yes. Where nothing is said, numbers and brackets alone may differ, and a name that merely counts (`TC-001`) is none.

A test case is in one group, that which the name of most others is in. A group is of one name with the same part taken
out, so that no chain of small differences joins what is unlike.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

_ALIKE = 0.8
"""The share of the words of the longer text that both have."""
_FEWEST_WORDS = 5
"""A text of fewer words says nothing."""
_MOST_SEGMENTS = 12
_MOST_LIKENESSES = 8
"""With so many different texts of one name a text is compared, at most."""
_CACHED = 20_000

_GAP = "…"
# With others of their kind in them: test_quotes[[a]-[b]].
_BRACKETS = re.compile(r"\((?:[^()]|\([^()]*\))*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{(?:[^{}]|\{[^{}]*\})*\}|<[^<>\s]*>")
# As it ends a word: "i2c1" is another one than "i2c0", "i3c" is another thing.
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*(?![^\W_])")
_SEGMENT = re.compile(r"[-_./:]+|(?<=[a-z0-9])(?=[A-Z])")
_SET_OFF = re.compile(r"\s*[:|\u2013\u2014]\s+|\s+[-/>]\s+")
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+")

_GENERIC = frozenset(
    {
        "test",
        "tests",
        "testcase",
        "case",
        "tc",
        "check",
        "scenario",
        "step",
        "testfall",
        "prüfung",
        *"测试用例テストケース",
    }
)
_NEGATIVE = frozenset(
    {
        *("no", "not", "never", "none", "nothing", "without", "cannot", "invalid", "negative", "wrong", "missing"),
        *(
            "disable",
            "disabled",
            "off",
            "deny",
            "denied",
            "reject",
            "rejected",
            "refuse",
            "refused",
            "block",
            "blocked",
        ),
        *("fail", "fails", "failed", "failure", "error", "illegal", "incorrect", "unsupported", "absent", "empty"),
        *("nicht", "kein", "keine", "keinen", "ohne", "nie", "ungültig", "ungültige", "falsch"),
    }
)


@dataclass(frozen=True, slots=True)
class Named:
    """A test case as it is called."""

    id: UUID
    title: str
    external_id: str | None


@dataclass(frozen=True, slots=True)
class Described(Named):
    """A test case with the words of all that it says beside its title, see `words_of`."""

    words: frozenset[str]


class _Key(NamedTuple):
    """What is left of a name. Names of equal keys differ by what was taken out alone."""

    taken_out: int
    """0: numbers and brackets, 1: a part, too."""
    left: tuple[str, ...]
    """The parts, "…" where one was taken out."""
    is_negative: bool
    """Whether what was taken out says no: "valid" and "invalid" are no parameters of one test."""


class _Name(NamedTuple):
    key: _Key
    shown: str
    """The name with "…" where something was taken out."""
    varying: frozenset[str]
    """The words that were taken out."""


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, without its numbers; of scripts without spaces, the letters."""
    return frozenset(_WORD.findall(text.casefold()))


def sharing_a_name(cases: Iterable[Named]) -> set[UUID]:
    """Return the ids of the test cases that may be variants by what they are called."""
    by_key: dict[_Key, list[UUID]] = defaultdict(list)
    for case in cases:
        for name in _names_of(case):
            by_key[name.key].append(case.id)
    return {case_id for ids in by_key.values() if len(ids) > 1 for case_id in ids}


def group(cases: Sequence[Described]) -> dict[UUID, str]:
    """Return the name of the group of each test case that has variants among these, whatever their order.

    Names of groups are different, and read like "lay-…-title". It takes as long as the texts are, together.
    """
    members: dict[_Key, list[tuple[Described, _Name]]] = defaultdict(list)
    for case in sorted(cases, key=lambda case: (case.title, case.external_id or "", case.id)):
        for name in _names_of(case):
            members[name.key].append((case, name))
    groups: dict[UUID, str] = {}
    taken: dict[str, int] = defaultdict(int)
    for key in sorted(members, key=lambda key: (-len(members[key]), key)):
        free = [(case, name) for case, name in members[key] if case.id not in groups]
        for alike in _alike(free, key):
            shown = max(name.shown for _, name in alike)
            taken[shown] += 1
            called = shown if taken[shown] == 1 else f"{shown} ({taken[shown]})"
            groups.update((case.id, called) for case, _ in alike)
    return groups


def _alike(members: Sequence[tuple[Described, _Name]], key: _Key) -> Iterator[list[tuple[Described, _Name]]]:
    """Yield those of the members, which have one name, that say the same: two or more at a time."""
    if len(members) < 2:
        return
    found: list[tuple[frozenset[str], bool, list[tuple[Described, _Name]]]] = []
    for case, name in members:
        said = case.words - name.varying
        is_negative = not _NEGATIVE.isdisjoint(said)
        if len(said) < _FEWEST_WORDS and (key.taken_out or not _says_what(key)):
            continue
        for first, first_is_negative, others in found:
            if first_is_negative == is_negative and _near(first, said):
                others.append((case, name))
                break
        else:
            if len(found) < _MOST_LIKENESSES:
                found.append((said, is_negative, [(case, name)]))
    yield from (alike for _, _, alike in found if len(alike) > 1)


def _near(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * max(len(one), len(other))


def _says_what(key: _Key) -> bool:
    """Check whether a name says by itself what is tested: it has two words, of which one is more than "test"."""
    words = words_of(" ".join(key.left))
    return len(words) > 1 and not words <= _GENERIC


def _names_of(case: Named) -> list[_Name]:
    names = list(_names(case.title))
    if case.external_id is not None and case.external_id != case.title:
        # An id that merely counts says nothing of what is tested, and is the same for all.
        names += (name for name in _names(case.external_id) if _says_what(name.key))
    # A name may be there twice: each test case counts once.
    return list({name.key: name for name in names}.values())


@lru_cache(_CACHED)
def _names(name: str) -> tuple[_Name, ...]:
    """Return what a name is once its numbers and brackets are out, and then each part that may be a variant's."""
    bracketed = _BRACKETS.findall(name)
    varying = words_of(" ".join(bracketed))
    shown = _BRACKETS.sub(lambda found: f"{found[0][0]}{_GAP}{found[0][-1]}", name) if bracketed else name
    bare = " ".join(_NUMBER.sub("#", _BRACKETS.sub(" ", name) if bracketed else name).split())
    is_sentence = " " in bare
    parts = [part for part in (_SET_OFF if is_sentence else _SEGMENT).split(bare) if part]
    says_no = not _NEGATIVE.isdisjoint(varying)
    whole = tuple(part.casefold() for part in parts)
    if not words_of(bare):
        return ()
    names = [_Name(_Key(0, whole, says_no), " ".join(_NUMBER.sub(_GAP, shown).split()), varying)]
    ends = {0, len(parts) - 1} if is_sentence else set(range(len(parts)))
    if 1 < len(parts) <= _MOST_SEGMENTS:
        for place in sorted(ends):
            left = (*whole[:place], _GAP, *whole[place + 1 :])
            out = words_of(parts[place])
            key = _Key(1, left, says_no or not _NEGATIVE.isdisjoint(out))
            # What is left is the name: a label before different things makes no variants of them.
            if out and len(out) < len(words_of(" ".join(left))) and _says_what(key):
                names.append(_Name(key, _cut_out(bare, parts, place), varying | out))
    return tuple(names)


def _cut_out(bare: str, parts: Sequence[str], place: int) -> str:
    """Return a name with one of its parts, and its numbers, replaced by a gap."""
    start = 0
    for part in parts[:place]:
        start = bare.index(part, start) + len(part)
    start = bare.index(parts[place], start)
    return f"{bare[:start]}{_GAP}{bare[start + len(parts[place]) :]}".replace("#", _GAP)

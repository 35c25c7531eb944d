"""What the name of a test says: which test it is, with which parameters, and which test case it may be."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from contracts.name_patterns import NamePattern, finders

if TYPE_CHECKING:
    from hashlib import _Hash

_ENDS_OF_PARAMETERS = frozenset(")]>0123456789")
_PARAMETERS = re.compile(r"(?: - example)?\s*#\d+|/\d+")
_DATA_SET = re.compile(r' with data set (?=#\d|")')
_OUTLINE = re.compile(r" -- @\d+\.\d+(?=\s|$)| - (?:Example )?#\d+\.\d+$")
_REPETITION = re.compile(r"(?:^| :: )repetition \d+ of \d+$")
_INDEXED = re.compile(r"\[\d+\] ([\w$]+) ?=")
_CALLED = re.compile(r"((?:[^\[\]()<>]*::)?[\w.$]+)[\[(<]")
_MOST_PARAMETERS = 100
"""Brackets behind one another that are taken off a name; thousands would take the square of their number."""
_PAIRS = {")": "(", "]": "[", ">": "<"}
_IDS = re.compile(
    r"\[(?!\d+\] [\w$]+ ?=)(?P<quoted>[^\[\]\s]{2,100})\]"
    r"|(?<![A-Za-z0-9])(?P<plain>(?:[A-Z][A-Za-z0-9_]{0,30}-){1,5}\d{1,10})(?![A-Za-z0-9])"
    r"|(?:^|_)(?P<words>(?:[A-Z]{1,10}_){1,5}\d{1,10})(?=_|$|\W)"
    r"|(?<![A-Za-z0-9])(?P<case>C\d{1,10})(?![A-Za-z0-9])"
)
# Each alternative begins with a character, for which the expression looks quickly.
_MAY_HAVE_IDS = re.compile(r"-\d|_(?<=[A-Z]_)\d|C\d|\[")
_TRACED = re.compile(r"\[\w+->([^\]\s]{1,100})\]")
MOST_GUESSES = 20


def base_name(name: str) -> str:
    """Return the name of a test without its parameters: `add[1-2]`, `add(int)`, `add/0` and `add #1` are add.

    And `add with data set "one" (1, 2)`, `add -- @1.2 sums` and `add - sums - Example #1.2`, as PHPUnit, behave and
    Cucumber write it. `[1] value = a` and `repetition 1 of 5`, where Gradle leaves the method out, are `[value]` and
    `repetition`.
    """
    if name[:1] == "[" and (indexed := _INDEXED.match(name)) is not None:
        return f"[{indexed[1]}]"
    base = (_DATA_SET.split(name, 1)[0] or name) if " with data set " in name else name
    if " -- @" in base or "#" in base:
        base = _OUTLINE.split(base, 1)[0] or base
    if "repetition " in base:
        base = _REPETITION.sub("", base) or "repetition"
    for _ in range(_MOST_PARAMETERS):
        if base[-1:] not in _ENDS_OF_PARAMETERS:
            break
        opening = _PAIRS.get(base[-1])
        if opening is None:
            tail = base[-12:]
            if "#" not in tail and "/" not in tail:
                break
            found = next((one for one in _PARAMETERS.finditer(tail) if one.end() == len(tail)), None)
            if found is None:
                break
            cut = base[: len(base) - len(tail) + found.start()].removesuffix(" - example")
        else:
            cut = base[: _opening(base, opening)]
        cut = cut.rstrip()
        if not cut:
            break
        base = cut
    if name[-1:] in _PAIRS and (called := _CALLED.match(base)) is not None and not _is_balanced(base):
        # A value that has a bracket by itself: `add[[]`, `Add("a)b")`.
        return called[1]
    return base


def _is_balanced(text: str) -> bool:
    return all(text.count(opening) == text.count(closing) for closing, opening in _PAIRS.items())


def _opening(text: str, opening: str) -> int:
    """Return where the bracket opens that is closed by the last character; 0 where it does not."""
    closing, depth = text[-1], 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == closing) - (text[at] == opening)
        if not depth:
            return at
    return 0


def fingerprints(class_name: str, suite: str, file: str) -> "_Hash":
    """Return what the fingerprints of all tests of a class begin with, to be copied and updated with their base names.

    A fingerprint is what a test is known by from run to run. Without a class, suite and file stand for it.
    """
    shared = f"{class_name}\0" if class_name else f"\0{suite}\0{file}\0"
    return sha256(shared.encode("utf-8", "replace"))


def ids_in(name: str) -> list[str]:
    """Return what in a name may be the external id of a test case: `[TC-7]`, `TC-7: ...`, `test_TC_7_...`, `C123`.

    Of `TC-PICK-7` that is the whole, or `PICK-7`.
    """
    # Most names have none, and of bytes this is told quickly: each id has a capital letter or stands in brackets.
    if (name.encode("utf-8", "replace").islower() and "[" not in name) or not _MAY_HAVE_IDS.search(name):
        return []
    found: dict[str, None] = {}
    for one in _IDS.finditer(name):
        if one["words"]:
            for words in _endings(one["words"].split("_")):
                found["-".join(words)] = None
                found["_".join(words)] = None
        elif one["plain"]:
            for words in _endings(one["plain"].split("-")):
                found["-".join(words)] = None
        else:
            found[one["quoted"] or one["case"]] = None
    return [*found][:MOST_GUESSES]


def _endings(words: list[str]) -> Iterator[list[str]]:
    """Yield the words, then those without the first, down to the last two."""
    for start in range(len(words) - 1):
        yield words[start:]


def guesser(patterns: Sequence[NamePattern] | None) -> Callable[[str], list[str]]:
    """Return what says which test cases a name may be of: by the patterns of a project, or as `ids_in` when None."""
    if patterns is None:
        return ids_in
    found_by = finders(patterns)

    def guess(name: str) -> list[str]:
        return [*dict.fromkeys(one for finder in found_by for one in finder.ids(name))][:MOST_GUESSES]

    return guess


def requirements_in(name: str) -> list[str]:
    """Return the requirements that a name says it verifies, as OpenFastTrace writes it: `[utest->req~login~1]`."""
    return _TRACED.findall(name) if "->" in name else []

"""What the values of a column mean, as far as people's words for them are known."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from catalog_service.exchange.tabular.columns import without_number
from catalog_service.exchange.tabular.values import CLOSED
from catalog_service.exchange.words import fold, words
from chassis.core.wording import listed, shown

_HYPHEN = re.compile("\\s*[-\u2010\u2011]\\s*")
SURE = 0.7
"""Below it, what a column was taken for is told, and a person has to look at it."""
_LONGEST_WORD = 30
_ALIKE = 0.85
_LETTERS = {"vh": "critical", "h": "high", "m": "medium", "l": "low", "vl": "low"}
"""Of priorities, where there are no others: M could be Must, too."""
DEFAULTS = {"priority": "medium", "type": "functional", "status": "draft", "automation_status": "manual"}


@dataclass(frozen=True, slots=True)
class Guess:
    """What a column is taken for: the field, how sure that is (0..1), and why."""

    field: str
    confidence: float
    reason: str


def value_map(values: list[str], kind: str, name: str, guess: Guess) -> tuple[dict[str, str], Guess]:
    """Return what the values of a column become, `*` for all others, and how sure that is.

    Only values of the file are listed; a rule with `known_words` reads others that are known as what they mean. Where
    what is not known is nothing but slips of what is, they are for people to mend: only blanks have a value then.
    """
    distinct = list(dict.fromkeys(value.strip() for value in values))
    known = _known_values(kind, name)
    letters: dict[str, str] = {}
    if name == "priority" and distinct and {fold(value) for value in distinct} <= _LETTERS.keys():
        known = {**known, **_LETTERS}
        letters = {letter.upper(): value for letter, value in _LETTERS.items()}
    looks = {value: _look(value, known) for value in distinct}
    result = {value: known[look] for value, look in looks.items() if look in known}
    confidence, reason = guess.confidence, guess.reason
    unknown = [value for value in distinct if value not in result]
    slips = [value for value in unknown if _is_slip(fold(value), known)]
    if name == "priority" and distinct and all(re.fullmatch(r"[0-5]", value) for value in distinct):
        levels = ["critical", "high", "medium", "low"] if len(distinct) > 3 else ["high", "medium", "low"]
        ordered = sorted(distinct)
        known = {}
        result = {value: levels[min(place, len(levels) - 1)] for place, value in enumerate(ordered)}
        confidence, reason = (
            min(confidence, 0.5),
            f"{reason} Its values are numbers; the smallest is taken for the highest.",
        )
    elif unknown and slips == unknown:
        reason = f"{reason} {listed(map(shown, slips[:3]), 'and')} may be misspelt, and would be refused."
    elif unknown:
        confidence = min(confidence, 0.6)
        some = ", ".join(map(shown, unknown[:3]))
        reason = (
            f"{reason} What {some} mean{'s' if len(unknown) == 1 else ''} is not known: taken for {DEFAULTS[name]}."
        )
    all_others = "" if slips and slips == unknown else "*"
    return {**letters, **result, all_others: DEFAULTS[name]}, Guess(guess.field, confidence, reason)


def knows_any(values: list[str], kind: str, name: str) -> bool:
    """Check whether what one of the values means is known."""
    known = _known_values(kind, name)
    return any(_look(value, known) in known for value in values)


def meaning_of(value: str, kind: str, name: str) -> str | None:
    """Return what a value of a field means, None where that is not known."""
    known = _known_values(kind, name)
    return known.get(_look(value, known))


def _look(value: str, known: Collection[str]) -> str:
    """Return a value as it stands among those that are known, without a number before it unless it has one there.

    Hyphens may be blanks: `nicht funktional`.
    """
    looks = (fold(value), fold(without_number(value)), _spelled(value))
    return next((look for look in looks if look in known), looks[1])


def _spelled(word: str) -> str:
    return _HYPHEN.sub(" ", fold(word))


def _is_slip(value: str, known: Collection[str]) -> bool:
    """Check whether a word is one that is known but for the order of its letters, or one of them: no plural of it."""
    if not 4 <= len(value) <= _LONGEST_WORD or any(value.removesuffix("s") == word.removesuffix("s") for word in known):
        return False
    letters = sorted(value)
    return any(
        letters == sorted(word) or SequenceMatcher(None, value, word).ratio() > _ALIKE
        for word in known
        if abs(len(word) - len(value)) < 2
    )


@cache
def _known_values(kind: str, name: str) -> dict[str, str]:
    tables = words()["values"]
    table = tables.get(f"{kind}.{name}") or tables[name]
    known = {look(word): value for look in (_spelled, fold) for value, words in table.items() for word in words}
    return {**known, **{fold(value): str(value) for value in CLOSED[kind][name]}}


def known_in(values: list[str]) -> dict[str, str]:
    """Return what those of the values become that are known types of links."""
    known = _known_values("links", "link_type")
    return {value: known[fold(value)] for value in dict.fromkeys(values) if fold(value) in known}

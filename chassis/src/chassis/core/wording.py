"""How messages show what was sent: short, and without what a terminal or a log could not take."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

_LONGEST = 60
_NEGATION = re.compile(
    r"(?<![^\W_])(non|not|no|never|without|nicht|kein\w*|nie|ohne|pas|sans|sin|nunca|não|nao|senza|niet|geen|inte|ikke|не)"
    r"(?![^\W_])|^[非不未無无]",
    re.IGNORECASE,
)
NO_ADDRESS = "There is nothing at this address; see /docs, unless it is switched off, for what there is."
A_MOMENT = "a day such as 2026-01-31 (its midnight, UTC) or a time with its offset such as 2026-01-31T12:00:00Z"


def shown(value: Any) -> str:
    """Return a value as a message shows it: a text in quotes, at most 60 characters; of a list or object the kind.

    What cannot be printed, halves of surrogate pairs among it, becomes U+FFFD.
    """
    if isinstance(value, str):
        start = "".join(character if character.isprintable() else "\ufffd" for character in value[:_LONGEST])
        return f"'{start}…'" if len(value) > _LONGEST else f"'{start}'"
    if value is None or isinstance(value, bool | dict | list | tuple | set):
        return kind_of(value)
    text = str(value)
    return f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text


def percent(share: float, *, below: float = 1) -> str:
    """Return a share of 0..1 in percent, to a tenth: `66.7%`. A share under `below` never looks as if it reached it."""
    tenths = round(share * 1000)
    if share < below and tenths >= round(below * 1000):
        tenths = round(below * 1000) - 1
    return f"{tenths / 10:g}%"


def kind_of(value: Any) -> str:
    """Return what kind of JSON a value is, without showing it: `a text`, `a number`, `a list`, `null`, ..."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple | set):
        return "a list"
    return "a number" if isinstance(value, int | float) else "a text"


def counted(number: int, thing: str, several: str | None = None) -> str:
    """Return a number of things: `1 suggestion`, `3,000 suggestions`; `several` where more than an s is different."""
    return f"{number:,} {thing if number == 1 else several or f'{thing}s'}"


def listed(words: Iterable[str], joint: str = "or") -> str:
    """Return `a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} {joint} {last}" if most else last


_MOST_LISTED = 20


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that somebody may have meant, if there is one; case and - for _ do not count.

    What says no is never taken for what does not, nor the other way round.
    """
    if len(word) > _LONGEST:  # none is as long, and it takes long to compare
        return None
    negated = is_negated(word)
    by_look = {name.lower().replace("-", "_"): name for name in known if is_negated(name) == negated}
    near = get_close_matches(word.lower().replace("-", "_"), by_look, 1)
    return by_look[near[0]] if near else None


def is_negated(text: str) -> bool:
    """Check whether a value says no: `non-functional`, `nicht freigegeben`, `sin probar`, `未実施`."""
    return _NEGATION.search(text) is not None


def no_such_value(name: str, value: str, allowed: Sequence[str]) -> str:
    """Say that a closed list does not have a value, and what it has; of a long one, what may have been meant."""
    if len(allowed) <= _MOST_LISTED:
        return f"There is no {name} {shown(value)}; it can be {listed(allowed)}."
    meant = nearest(value, allowed)
    if meant is not None:
        return f"There is no {name} {shown(value)}; did you mean {shown(meant)}?"
    some = ", ".join(allowed[:_MOST_LISTED])
    return f"There is no {name} {shown(value)}; the description of the API has all: {some} and more."


def no_uuid(value: Any) -> str:
    """Say that an id is none."""
    return f"{shown(value)} is no id: ids are UUIDs such as 7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11."

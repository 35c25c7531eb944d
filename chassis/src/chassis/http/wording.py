"""How messages show what was sent: short, and without what a terminal or a log could not take."""

from collections.abc import Iterable
from typing import Any

_LONGEST = 60


def shown(value: Any) -> str:
    """Give a value as a message shows it: a text in quotes, at most 60 characters of it; of a list or object the kind.

    What cannot be printed, halves of surrogate pairs among it, becomes U+FFFD.
    """
    if isinstance(value, str):
        start = "".join(character if character.isprintable() else "\ufffd" for character in value[:_LONGEST])
        return f"'{start}…'" if len(value) > _LONGEST else f"'{start}'"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple | set):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = str(value)
    return f"{text[:_LONGEST]}…" if len(text) > _LONGEST else text


def listed(words: Iterable[str], joint: str = "or") -> str:
    """Give `a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} {joint} {last}" if most else last

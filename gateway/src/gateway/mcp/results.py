"""Results as models read them: a JSON document of at most 8,000 characters, from which nothing is lost unsaid."""

from typing import Any

import orjson

Json = dict[str, Any]

MOST = 8_000
"""Characters."""
_WHOLE = frozenset(
    {"id", "key", "next", "code", "project", "link_id", "relation_id", "suggestion_id", "proposal_id", "batch"}
)
"""Members that name something: part of one would name nothing, or something else."""
_STEPS = ((6000, 100), (3000, 60), (1500, 40), (800, 30), (400, 25), (200, 20), (120, 20), (80, 10), (60, 5), (40, 2))
"""Characters of a text and rows of a list, from much to little."""


def encode(result: Json) -> str:
    """Return a result as text."""
    return orjson.dumps(result, option=orjson.OPT_UTC_Z).decode()


def fit(result: Json) -> Json:
    """Return a result that is short enough, with `shortened` where texts or lists lost their ends for that.

    Lists of the result itself keep their rows as long as anything else can go.
    """
    if len(encode(result)) <= MOST:
        return result
    for keeps_rows in (True, False):
        for characters, rows in _STEPS:
            shorter = {name: _shortened_member(name, one, characters, rows) for name, one in result.items()}
            if keeps_rows:
                lists = {name: one for name, one in result.items() if isinstance(one, list)}
                shorter |= {name: [_shortened(row, characters, rows) for row in one] for name, one in lists.items()}
            shorter["shortened"] = True
            if len(encode(shorter)) <= MOST:
                return shorter
    return {name: type(value)() if isinstance(value, list | dict) else value for name, value in result.items()} | {
        "shortened": True
    }


def has_lost_rows(result: Json, told: Json) -> bool:
    """Check whether a list of a result lost its end in what `fit` made of it."""
    return any(isinstance(value, list) and len(value) > len(told[name]) for name, value in result.items())


def _shortened(value: Any, characters: int, rows: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[: characters - 1]}…"
    if isinstance(value, list):
        return [_shortened(one, characters, rows) for one in value[:rows]]
    if isinstance(value, dict):
        return {name: _shortened_member(name, one, characters, rows) for name, one in value.items()}
    return value


def _shortened_member(name: str, value: Any, characters: int, rows: int) -> Any:
    return value if name in _WHOLE and isinstance(value, str) else _shortened(value, characters, rows)

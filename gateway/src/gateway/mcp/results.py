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
    """Return a result that is short enough, with `shortened` where texts or lists lost their ends for that."""
    if len(encode(result)) <= MOST:
        return result
    for characters, rows in _STEPS:
        shorter = {**_shortened(result, characters, rows), "shortened": True}
        if len(encode(shorter)) <= MOST:
            return shorter
    return {name: type(value)() if isinstance(value, list | dict) else value for name, value in result.items()} | {
        "shortened": True
    }


def _shortened(value: Any, characters: int, rows: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[: characters - 1]}…"
    if isinstance(value, list):
        return [_shortened(one, characters, rows) for one in value[:rows]]
    if isinstance(value, dict):
        return {
            name: one if name in _WHOLE and isinstance(one, str) else _shortened(one, characters, rows)
            for name, one in value.items()
        }
    return value

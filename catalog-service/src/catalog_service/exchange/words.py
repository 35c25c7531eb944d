"""What people call fields of items and their values, in several languages, in `words.json`."""

import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
"""Characters without width, which come along when people copy."""


@cache
def words() -> dict[str, Any]:
    """Return what people call fields and their values: `action`, `expected` and `data` are of steps.

    Of `relations`, the columns of `parents` name items whatever stands in them, those of `others` where it is ids.
    """
    known: dict[str, Any] = orjson.loads(files(__package__).joinpath("words.json").read_bytes())
    return known


def fold(text: str) -> str:
    """Return a header or value such that those that people take for the same are equal."""
    return re.sub(r"[\s_]+", " ", _UNSEEN.sub("", unicodedata.normalize("NFKC", text))).strip(" :*.").casefold()

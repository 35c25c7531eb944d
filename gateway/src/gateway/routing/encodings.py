"""Which content codings a client takes (RFC 9110, 12.5.3)."""

import re
from functools import lru_cache

_LONGEST = 200
"""Bytes: what is remembered is chosen by whoever calls."""
_NEVER = re.compile(rb"\s*q\s*=\s*0(\.0*)?\s*")


def accepts(header: bytes | None, coding: bytes) -> bool:
    """Check whether an Accept-Encoding header takes `coding`."""
    return header is not None and len(header) <= _LONGEST and _accepts(header, coding)


@lru_cache(maxsize=256)
def _accepts(header: bytes, coding: bytes) -> bool:
    weights = {}
    for part in header.lower().split(b","):
        name, _, weight = part.partition(b";")
        weights[name.strip()] = weight
    weight = weights.get(coding, weights.get(b"*", b"q=0"))
    return _NEVER.fullmatch(weight) is None

"""The scoring engine: how alike a requirement and a test case are, and which words say so. No I/O.

A service keeps `terms(item)` of each text, fills a `Corpus` with them, and asks its `snapshot()` for scores
and explanations, in a thread if it likes: a snapshot never changes.
"""

from suggestion_service.engine.corpus import Corpus, Entry
from suggestion_service.engine.embedding import ItemVectors
from suggestion_service.engine.explanation import Explanation
from suggestion_service.engine.places import Places
from suggestion_service.engine.reading import Reading, read
from suggestion_service.engine.shelf import Side
from suggestion_service.engine.snapshot import ALGORITHMS, Algorithm, Block, Snapshot
from suggestion_service.engine.text import ItemText, terms

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Block",
    "Corpus",
    "Entry",
    "Explanation",
    "ItemText",
    "ItemVectors",
    "Places",
    "Reading",
    "Side",
    "Snapshot",
    "read",
    "terms",
]

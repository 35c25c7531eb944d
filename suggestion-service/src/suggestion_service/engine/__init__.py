"""The scoring engine: how similar a requirement and a test case are, and why. No I/O.

A service stores `terms(item)` of each text, fills a `Corpus` with them, and asks a `Scorer` of its `snapshot()` for
scores and explanations, in a thread if it likes: a snapshot never changes. Other packages import from here alone.
"""

from suggestion_service.engine.corpus.corpus import Corpus, Entry
from suggestion_service.engine.corpus.query import ALGORITHMS, Algorithm, Query, Side
from suggestion_service.engine.corpus.snapshot import Snapshot
from suggestion_service.engine.explanation.explanation import Explanation, Facts, explain
from suggestion_service.engine.explanation.reading import Reading, read
from suggestion_service.engine.explanation.spans import MOST_CHARACTERS, Span, SpanFinder
from suggestion_service.engine.explanation.stored_facts import pack, unpack
from suggestion_service.engine.ranking.calibration import CALIBRATIONS, Calibration
from suggestion_service.engine.scorer import Block, Scorer
from suggestion_service.engine.semantic.embedding_store import EmbeddingStore
from suggestion_service.engine.semantic.embeddings import EmbeddingView, ItemVectors, quantized, unit_vectors
from suggestion_service.engine.text.sentences import MOST_SENTENCES, sentences
from suggestion_service.engine.text.terms import ItemText, read_terms, terms

__all__ = [
    "ALGORITHMS",
    "CALIBRATIONS",
    "MOST_CHARACTERS",
    "MOST_SENTENCES",
    "Algorithm",
    "Block",
    "Calibration",
    "Corpus",
    "EmbeddingStore",
    "EmbeddingView",
    "Entry",
    "Explanation",
    "Facts",
    "ItemText",
    "ItemVectors",
    "Query",
    "Reading",
    "Scorer",
    "Side",
    "Snapshot",
    "Span",
    "SpanFinder",
    "explain",
    "pack",
    "quantized",
    "read",
    "read_terms",
    "sentences",
    "terms",
    "unit_vectors",
    "unpack",
]

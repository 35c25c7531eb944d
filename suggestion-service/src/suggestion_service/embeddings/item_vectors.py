"""From items to their vectors, as the engine compares them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suggestion_service.embeddings.passages import passages, whole_text
from suggestion_service.embeddings.port import Embedder
from suggestion_service.engine import ItemText, ItemVectors, quantized, unit_vectors

FORM = "1"
"""What is embedded of an item and how; another form is another model."""


def model_of(embedder: Embedder) -> str:
    """Name what the vectors of `embed_items` depend on beside the texts."""
    return f"{embedder.name}, form {FORM}"


def embed_items(embedder: Embedder, items: Sequence[ItemText]) -> list[ItemVectors | None]:
    """Return the vectors of each item, None where there are no words. Takes milliseconds a sentence.

    The vector of an item lies between that of its whole text, which a model reads the beginning of, and the mean of
    those of its passages.
    """
    said = [passages(item) for item in items]
    # Titles, and steps like "Log in", come again and again.
    texts = list(dict.fromkeys([whole_text(item) for item, sentences in zip(items, said, strict=True) if sentences]))
    texts = list(dict.fromkeys([*texts, *(sentence for sentences in said for sentence in sentences)]))
    if not texts:
        return [None] * len(items)
    place = {text: k for k, text in enumerate(texts)}
    vectors = unit_vectors(embedder.embed(texts))
    return [
        _vectors(vectors[place[whole_text(item)]], vectors[[place[sentence] for sentence in sentences]])
        if sentences
        else None
        for item, sentences in zip(items, said, strict=True)
    ]


def _vectors(whole: NDArray[np.float64], sentences: NDArray[np.float64]) -> ItemVectors:
    mean = unit_vectors(sentences.mean(axis=0, keepdims=True))[0]
    return ItemVectors(quantized(unit_vectors((whole + mean)[None]))[0], quantized(sentences))

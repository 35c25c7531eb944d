"""What the service needs of a model for sentence embeddings."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class EmbeddingsUnavailable(Exception):
    """There can be no embeddings here. The message is a sentence that says why, and what to do."""


class Embedder(Protocol):
    """A model for sentence embeddings."""

    @property
    def name(self) -> str:
        """Name the model and its version: two of one name give the same vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector of any length for each text, shape (texts, dimensions).

        The vector of a text does not depend on what else is asked for. It takes milliseconds a text: not for the
        event loop.
        """

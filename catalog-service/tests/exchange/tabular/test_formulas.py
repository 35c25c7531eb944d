"""Texts in CSV files come back as they were, and no spreadsheet program runs them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange.tabular import formulas
from catalog_service.exchange.tabular.formulas import decode, encode, encode_row, looks_encoded

texts = st.text() | st.text(st.sampled_from("'\"=+-@＝; |\t\r\n a\u00a0\u2028"), max_size=12)


@given(texts)
def test_every_text_comes_back(text: str) -> None:
    assert decode(encode(text)) == text


@given(texts, texts)
def test_two_texts_never_become_one(one: str, other: str) -> None:
    assert (encode(one) == encode(other)) == (one == other)


@given(texts)
def test_no_cell_begins_as_a_formula_wherever_a_program_splits_it(text: str) -> None:
    for cell in re.split(r"[;|\t\r\n]", encode(text)):
        assert not cell.strip(' "\u00a0\u2028').startswith(tuple("=+-@＝＋－＠"))
    assert not encode(text).startswith(("\t", "\r"))


@pytest.mark.parametrize("text", ["plain", "a = b", "3-4", "mail me@example.com", "it's", "", "a\nb"])
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert encode(text) == text


@pytest.mark.parametrize("piece", ['"\n', " ", "'", '" ', "\t", "=", "\u3000\n"])
def test_long_texts_take_no_longer_than_their_length_asks(piece: str) -> None:
    text = piece * 500_000
    assert decode(encode(text)) == text


def test_a_file_of_another_tool_is_suspected_only_where_it_looks_like_ours() -> None:
    assert looks_encoded("'=1+1")
    assert looks_encoded("''quoted")
    assert not looks_encoded("'tis")


@given(st.lists(texts | st.none(), max_size=4))
def test_a_row_is_encoded_as_its_cells_are(cells: list[str | None]) -> None:
    assert list(encode_row(cells)) == [None if cell is None else encode(cell) for cell in cells]


@given(texts, st.integers(1, 4))
def test_a_long_text_is_encoded_as_a_short_one(text: str, longest: int) -> None:
    whole = encode(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formulas, "_PIECE", longest)
        assert encode(text) == whole

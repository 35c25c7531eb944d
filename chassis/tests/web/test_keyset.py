"""Positions in lists: what goes out comes back, and nothing else is taken for one."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.core.problems import Invalid
from chassis.web import keyset
from chassis.web.keyset import By, Order

EACH = Order(
    "title:desc",
    (
        By("l.created_at", datetime, descending=True),
        By("title", str, nullable=True, expression="lower({})"),
        By("score", float, nullable=True),
        By("number", int),
        By("l.id", UUID),
    ),
)
POSITIONS = st.tuples(
    st.datetimes(timezones=st.just(UTC)),
    st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.uuids(),
)


def code_of(text: str, order: Order = EACH, of: str = "/requirements") -> str:
    with pytest.raises(Invalid) as caught:
        keyset.read(text, order, of)
    assert caught.value.errors[0].pointer == "/query/after"
    return caught.value.errors[0].code


@given(POSITIONS)
def test_a_position_comes_back_as_it_was(position: tuple[Any, ...]) -> None:
    text = keyset.written(position, EACH, "/requirements")
    assert text.replace("-", "").replace("_", "").isalnum()
    assert keyset.read(text, EACH, "/requirements") == position


@given(POSITIONS, st.data())
def test_a_damaged_one_is_refused(position: tuple[Any, ...], data: st.DataObject) -> None:
    text = keyset.written(position, EACH, "/requirements")
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="ascii").filter(lambda sign: sign != text[at]))
    for damaged in (text[:at] + other + text[at + 1 :], text[:at], text + other):
        assert code_of(damaged) == "malformed_position"


@given(st.text())
def test_any_other_text_is_refused(text: str) -> None:
    assert code_of(text) == "malformed_position"


@given(POSITIONS)
def test_one_of_another_sort_or_list_is_refused(position: tuple[Any, ...]) -> None:
    text = keyset.written(position, EACH, "/requirements")
    assert code_of(text, Order("title:asc", EACH.columns)) == "other_sort"
    assert code_of(text, of="/test-cases") == "malformed_position"


@pytest.mark.parametrize("value", [None, True, "2026-13-01", "x", "\0", 2**63, [], {}])
def test_what_no_row_has_is_refused_whoever_wrote_it(value: Any) -> None:
    good = (datetime(2026, 1, 1, tzinfo=UTC), "a", 0.5, 1, UUID(int=1))
    for place in (0, 3, 4):
        forged = keyset.written((*good[:place], value, *good[place + 1 :]), EACH, "/requirements")
        assert code_of(forged) == "malformed_position"

"""Sentences count things as people do, and what may have been meant is near to what was said."""

import pytest

from chassis.core.wording import counted, nearest


def test_many_things_can_be_read() -> None:
    assert counted(1234567, "entry", "entries") == "1,234,567 entries"


def test_one_thing_is_singular() -> None:
    assert [counted(number, "suggestion") for number in (0, 1, 2)] == [
        "0 suggestions",
        "1 suggestion",
        "2 suggestions",
    ]
    assert [counted(number, "entry has", "entries have") for number in (0, 1, 2)] == [
        "0 entries have",
        "1 entry has",
        "2 entries have",
    ]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("funktional", "functional"),
        ("nicht funktional", "non_functional"),
        ("not functional", "non_functional"),
        ("non-functionel", "non_functional"),
        ("functionall", "functional"),
        ("非functional", "non_functional"),
    ],
)
def test_a_word_is_never_taken_for_its_opposite(word: str, meant: str | None) -> None:
    assert nearest(word, ["functional", "non_functional", "technical"]) == meant

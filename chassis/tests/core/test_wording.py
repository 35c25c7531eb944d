"""Sentences count things as people do, and what may have been meant is near to what was said."""

import pytest

from chassis.core.wording import counted, nearest, percent


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


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0%"), (0.8, "80%"), (0.57, "57%"), (2 / 3, "66.7%"), (0.9999, "99.9%"), (1.0, "100%")],
)
def test_a_share_is_shown_to_a_tenth_of_a_percent(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("share", "threshold", "shown"), [(0.79999, 0.8, "79.9%"), (2 / 3, 0.8, "66.7%"), (0.8, 0.8, "80%")]
)
def test_a_share_below_a_threshold_is_never_shown_as_reaching_it(share: float, threshold: float, shown: str) -> None:
    assert percent(share, below=threshold) == shown

"""Sentences count things as people do."""

from chassis.core.wording import counted


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

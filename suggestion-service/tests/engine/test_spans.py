"""Terms in texts as they were written: exact places in odd texts."""

import random
import sys
import unicodedata
from itertools import pairwise

import pytest

from suggestion_service.engine import MOST_CHARACTERS, ItemText, Span, SpanFinder, terms
from suggestion_service.engine.explanation.spans import _origins


def found(text: str, *shown: str) -> list[tuple[str, str]]:
    """Return (term, what stands at its place) in the order of the places."""
    return [(shown[place.term], text[place.start : place.end]) for place in SpanFinder(shown).find(text)]


@pytest.mark.parametrize(
    ("text", "shown", "expected"),
    [
        ("Locks the door, locked doors", "lock", ["Locks", "locked"]),
        ("Déconnexion: la déconnexion", "déconnexion", ["Déconnexion", "déconnexion"]),
        ("De\u0301connexion de\u0301connexion!", "déconnexion", ["De\u0301connexion", "de\u0301connexion"]),
        ("😀 door 👩‍👩‍👧 door", "door", ["door", "door"]),
        ("Straße und STRASSE", "Straße", ["Straße"]),
        ("İstanbul, ein İstanbul", "İstanbul", ["İstanbul", "İstanbul"]),
        ("the \ufb01nder ﬁnds a finder", "finder", ["ﬁnder", "finder"]),
        ("ﬃ ﬃ ﬃ pump", "pump", ["pump"]),
        ("½ ㎏ of ㎏x and kg", "kg", ["㎏", "kg"]),
        ("Ｄｏｏｒ door", "door", ["Ｄｏｏｒ", "door"]),
        ("ﾊﾟｽﾜｰﾄﾞ", "パスワード", ["ﾊﾟｽﾜｰﾄﾞ"]),
        ("用户登录失败，再登录", "登录失败", ["登录失败"]),
        ("用户登录失败，再登录", "登录", ["登录", "登录"]),
        ("비밀번호", "비밀번호", ["비밀번호"]),
        (unicodedata.normalize("NFD", "비밀번호"), "비밀번호", [unicodedata.normalize("NFD", "비밀번호")]),
        ("the spi_host0 and __spi_host0__", "spi_host0", ["spi_host0", "spi_host0"]),
        ("SHA2 and SHA", "SHA2", ["SHA2"]),
        ("SHA2 and SHA", "SHA", ["SHA", "SHA"]),
        ("50 Hz, 50Hz, 50-Hz; 50 and Hz", "50 Hz", ["50 Hz", "50Hz", "50-Hz"]),
        ("a 50 hertz 50", "50", ["50", "50"]),
        (f"{'x' * 80} {'x' * 70}", "x" * 64, ["x" * 80, "x" * 70]),
        ("", "door", []),
        ("\u0301\u0301 door", "door", ["door"]),
        ("nothing", "", []),
    ],
)
def test_places_are_exact(text: str, shown: str, expected: list[str]) -> None:
    assert [stands for _, stands in found(text, shown)] == expected


def test_places_do_not_overlap() -> None:
    text = "50 Hz rx_parity_err parity 登录失败登录"
    places = SpanFinder(["parity", "rx_parity_err", "50", "50 Hz", "登录", "登录失败", "失败"]).find(text)
    assert all(one.end <= other.start for one, other in pairwise(places))
    assert [text[place.start : place.end] for place in places] == [
        "50 Hz",
        "rx_parity_err",
        "parity",
        "登录失败",
        "登录",
    ]


def test_what_a_place_reads_as_is_the_term_whatever_the_letters() -> None:
    """Any letters, any marks: what stands at a place reads as the term that was looked for, and nothing is missed."""
    chance = random.Random(14)
    letters = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) not in {"Cn", "Cs"}]
    odd = "e\u0301ﬁ㎏½ßİ①ﾞ\u1161\u11a8가각\u0327\u0323 \u200d-_"
    for _ in range(2000):
        text = "".join(chance.choice(letters if chance.random() < 0.5 else odd) for _ in range(12)) + " door"
        read, starts, ends = _origins(text)
        assert read == unicodedata.normalize("NFKC", text)
        assert len(read) == len(starts) == len(ends)
        assert [text[place.start : place.end] for place in SpanFinder(["door"]).find(text)][-1:] == ["door"]
        for term in terms(ItemText(title="", description=text)):
            for place in SpanFinder([term]).find(text):
                assert term in terms(ItemText(title="", description=text[place.start : place.end]), "en")


@pytest.mark.parametrize("piece", ["pump ", "e\u0301", "登录", "\u0301", "\u1100\u1161", "ﾞ", "İ "])
def test_a_text_of_100_kb_is_looked_through(piece: str) -> None:
    text = piece * (100_000 // len(piece)) + " door"
    assert found(text, "door") == [("door", "door")]


def test_of_a_text_where_each_word_is_another_that_has_the_term_the_first_are_found() -> None:
    text = " ".join(f"word{number}" for number in range(100_000))
    looked: list[str] = []
    spans = SpanFinder(["word"]).find(text, 1000, lambda: bool(looked.append("")))
    assert [text[place.start : place.end] for place in spans] == ["word"] * 1000
    assert len(looked) < 2 * len(text[:MOST_CHARACTERS].split())


def test_no_more_words_are_looked_at_once_the_time_is_over() -> None:
    looked: list[str] = []

    def is_over() -> bool:
        looked.append("")
        return len(looked) > 10

    assert SpanFinder(["word"]).find("word door " + "pump " * 1000, is_over=is_over) == [Span(0, 0, 4)]
    assert len(looked) == 11


@pytest.mark.parametrize("piece", ["登录", "ด", "aB1", "é"])
def test_a_word_without_an_end_is_looked_at_so_far(piece: str) -> None:
    assert found(f"door {piece * 60_000} door", "door") == [("door", "door")] * 2

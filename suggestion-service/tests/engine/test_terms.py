"""What the engine reads in the texts of an item."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from suggestion_service.engine import ItemText, read, terms


def described(description: str) -> dict[str, int]:
    return terms(ItemText(title="", description=description))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rx_parity_err", {"rx_parity_err", "rx", "pariti", "err"}),
        ("userLoginPage", {"userloginpag", "user", "login", "page"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("SHA256", {"sha256", "sha", "256"}),
        ("__init__", {"init"}),
        ("UARTs", {"uart"}),
    ],
)
def test_an_identifier_is_split_and_kept_whole(text: str, expected: set[str]) -> None:
    assert set(described(text)) == expected


def test_forms_of_a_word_are_one_term() -> None:
    assert described("registering registered Registers register") == {"regist": 4}


def test_stop_words_and_single_letters_say_nothing() -> None:
    assert described("it shall be the case that x is 1, and don't") == {"case": 1}


@pytest.mark.parametrize("text", ["", "   ", "🔥🎉", "--- !!! ...", "the a of", "\u200d\ufe0f"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert terms(ItemText(title=text, description=text)) == {}


def test_words_of_other_scripts_are_kept() -> None:
    assert described("Größe вход पासवर्ड סיסמה") == {
        "größe": 1,
        "вход": 1,
        "पासवर्ड": 1,
        "סיסמה": 1,
    }


def test_scripts_without_spaces_are_read_in_pairs_of_letters() -> None:
    assert described("用户登录") == {"用户": 1, "户登": 1, "登录": 1}
    assert described("API接口") == {"api": 1, "接口": 1}
    assert described("键") == {"键": 1}


def test_composed_decomposed_and_full_width_letters_are_the_same() -> None:
    assert described("cafe\u0301 ＬＯＧＩＮ") == described("caf\u00e9 LOGIN")


def test_every_text_of_an_item_counts() -> None:
    item = ItemText(
        title="alpha",
        description="beta",
        steps={"1": "gamma", "2": "delta"},
        preconditions="epsilon",
        postconditions="zeta",
        module="theta",
        tags=["kappa", "lambda"],
    )
    assert set(terms(item)) == {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "kappa", "lambda"}


def test_words_of_the_title_count_three_times() -> None:
    assert terms(ItemText(title="Parity", description="Parity frame")) == {"pariti": 1, "frame": 1}
    assert terms(ItemText(title="Parity", description="The frame")) == {"pariti": 3, "frame": 1}


def test_a_megabyte_of_words_is_counted() -> None:
    counted = described("login failure " * 75_000)
    assert counted == {"login": 75_000, "failur": 75_000}


def test_a_megabyte_without_a_space_gives_a_short_term() -> None:
    (term,) = described("a" * 1_000_000)
    assert len(term) == 64


def test_terms_survive_json() -> None:
    counted = described("Größe 用户登录 rx_parity_err")
    assert json.loads(json.dumps(counted)) == counted


def test_threads_read_the_same() -> None:
    texts = [f"registering users number{n} expectedly authorizations" for n in range(2_000)]
    alone = [described(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(described, reversed(texts))) == alone[::-1]


def test_a_term_is_shown_as_the_word_that_stands_for_it_most_often() -> None:
    item = ItemText(title="Registration", description="A registration. UART registrations, rx_parity_err")
    words = read(item).words
    assert words["registr"] == "registration"
    assert words["uart"] == "UART"
    assert words["rx_parity_err"] == "rx_parity_err"
    assert words.keys() == terms(item).keys()

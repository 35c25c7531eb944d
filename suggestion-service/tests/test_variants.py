"""Which test cases are variants of one another, by their names and what they say."""

from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suggestion_service.variants import Described, group, sharing_a_name, words_of

PAGES = "Open the book and check that each page is laid out as the package document says"
DOOR = "Hold the badge to the reader, wait for the light and push the door"


def named(*cases: tuple[str, str] | tuple[str, str, str]) -> list[Described]:
    """Test cases of (title, text) or (title, text, external id), with ids in their order."""
    return [
        Described(UUID(int=number), case[0], case[2] if len(case) == 3 else None, words_of(case[1]))
        for number, case in enumerate(cases)
    ]


def groups(*cases: tuple[str, str] | tuple[str, str, str]) -> list[str | None]:
    """The group of each of these test cases."""
    found = group(named(*cases))
    return [found.get(UUID(int=number)) for number in range(len(cases))]


@pytest.mark.parametrize(
    ("titles", "text", "called"),
    [
        (("lay-fxl-title", "lay-pp-title"), PAGES, "lay-…-title"),
        (("fxl-lay-title", "pp-lay-title"), PAGES, "…-lay-title"),
        (("test_login[chrome]", "test_login[firefox]"), "", "test_login[…]"),
        (("test_login[a[1]]", "test_login[b[2]]"), "", "test_login[…]"),
        (("test_login[1]", "test_login[2]"), "", "test_login[…]"),
        (("Login fails (Chrome)", "Login fails (Firefox)"), "", "Login fails (…)"),
        (("Login fails", "Login fails (Firefox)"), "", "Login fails (…)"),
        (("The door opens 1", "The door opens 2"), DOOR, "The door opens …"),
        (("reset of i2c0 works", "reset of i2c1 works"), "", "reset of i2c… works"),
        (("Chrome: the login fails", "Firefox: the login fails"), DOOR, "…: the login fails"),
        (("The door opens - badge", "The door opens - card"), DOOR, "The door opens - …"),
        (("checkLoginChrome", "checkLoginFirefox"), DOOR, "checkLogin…"),
        (("Anmeldung schlägt fehl (Tür 1)", "Anmeldung schlägt fehl (Tür 2)"), "", "Anmeldung schlägt fehl (…)"),
    ],
)
def test_names_that_differ_by_a_prefix_a_parameter_or_a_number_are_a_group(
    titles: tuple[str, str], text: str, called: str
) -> None:
    assert groups(*((title, text) for title in titles)) == [called, called]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("TC-001", PAGES), ("TC-002", DOOR), id="numbers that count, and different texts"),
        pytest.param(("TC-001", ""), ("TC-002", ""), id="numbers that count, and nothing said"),
        pytest.param(("Test case 1", ""), ("Test case 2", ""), id="a name that says no more than that it is a test"),
        pytest.param(("测试用例1", ""), ("测试用例2", ""), id="the same in Chinese"),
        pytest.param(("lay-fxl-title", PAGES), ("lay-pp-title", DOOR), id="one segment, and different texts"),
        pytest.param(("lay-fxl-title", ""), ("lay-pp-title", ""), id="one segment, and nothing said"),
        pytest.param(("lay-fxl-title", PAGES), ("lay-pp-width", PAGES), id="two segments"),
        pytest.param(("Login (Chrome)", PAGES), ("Login (Firefox)", DOOR), id="a parameter, and different texts"),
        pytest.param(("open-door-test", DOOR), ("open-door", DOOR), id="a segment more"),
        pytest.param(("i2c bus works", DOOR), ("i3c bus works", DOOR), id="a number within a word"),
        pytest.param(("The badge opens", DOOR), ("The card opens", DOOR), id="a word of a sentence"),
        pytest.param(("Login (valid card)", ""), ("Login (invalid card)", ""), id="yes and no"),
        pytest.param(("login-valid-card", DOOR), ("login-invalid-card", DOOR), id="yes and no as a segment"),
        pytest.param(
            ("Door (red)", f"{DOOR}. It opens."),
            ("Door (blue)", f"{DOOR}. It never opens."),
            id="yes and no in the text",
        ),
        pytest.param(
            ("Input validation: the door is checked as agreed", DOOR),
            ("Input validation: the light is on for all others", DOOR),
            id="a label before different things",
        ),
        pytest.param(("", ""), ("", ""), id="no name"),
    ],
)
def test_what_is_unlike_is_no_group(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert groups(one, other) == [None, None]


def test_external_ids_say_it_too_unless_they_merely_count() -> None:
    assert groups(("A page", PAGES, "lay-fxl-title"), ("Two pages", PAGES, "lay-pp-title")) == ["lay-…-title"] * 2
    assert groups(("A page", PAGES, "TC-001"), ("Two pages", PAGES, "TC-002")) == [None, None]


def test_texts_are_near_alike_when_four_of_five_words_are_the_same() -> None:
    assert groups(("Door (a)", "one two three four five"), ("Door (b)", "one two three four six")) == ["Door (…)"] * 2
    assert groups(("Door (a)", "one two three four five"), ("Door (b)", "one two three six seven")) == [None] * 2


def test_the_words_and_numbers_that_are_taken_out_are_no_difference_of_the_texts() -> None:
    said = "Open {} version {}, sign in with a wrong password and read the message"
    cases = [(f"Login (Chrome {number})", said.format(f"Chrome {number}", number)) for number in range(3)]
    assert groups(*cases, ("Login (Firefox)", said.format("Firefox", 12))) == ["Login (…)"] * 4


def test_small_differences_make_no_chain() -> None:
    """Of two names that a test case has variants by, it is in the larger group alone."""
    cases = ("lay-fxl-title", "lay-pp-title", "lay-rtl-title", "lay-fxl-width", "nav-fxl-width")
    assert groups(*((title, PAGES) for title in cases)) == ["lay-…-title"] * 3 + ["…-fxl-width"] * 2


def test_groups_of_one_name_that_say_different_things_have_different_names() -> None:
    cases = [(f"The door opens {number}", text) for number, text in enumerate((DOOR, DOOR, PAGES, PAGES))]
    assert groups(*cases) == ["The door opens …"] * 2 + ["The door opens … (2)"] * 2


WORDS = ("lay", "fxl", "pp", "title", "width", "(a)", "[b]", "1", "02", "not", "Chrome:", "-", "é", "扉")
NAMES = st.lists(st.sampled_from(WORDS), max_size=5).flatmap(
    lambda words: st.sampled_from((" ", "-", "_", "")).map(lambda sign: sign.join(words))
)
CASES = st.lists(st.tuples(NAMES, st.sampled_from(("", PAGES, DOOR, f"{PAGES} now")), NAMES), max_size=12)


@given(CASES, st.randoms(use_true_random=False))
def test_the_order_is_all_the_same(cases: list[tuple[str, str, str]], random: Random) -> None:
    known = named(*cases)
    mixed = random.sample(known, len(known))
    assert group(mixed) == group(known)


@given(CASES)
def test_a_group_has_two_members_and_whoever_is_in_one_shares_a_name(cases: list[tuple[str, str, str]]) -> None:
    known = named(*cases)
    found = group(known)
    assert all(list(found.values()).count(name) > 1 for name in found.values())
    assert found.keys() <= sharing_a_name(known)


@given(CASES, st.text(max_size=40))
def test_who_has_a_name_and_a_text_of_its_own_is_alone(cases: list[tuple[str, str, str]], title: str) -> None:
    alone = Described(
        UUID(int=999), f"zebra {title}", None, words_of("Feed the zebra, clean its box and shut the gate")
    )
    assert alone.id not in group([*named(*cases), alone])


@given(st.text(max_size=300))
def test_any_text_is_a_name(title: str) -> None:
    assert (
        set(groups((title, PAGES), (title, PAGES))) <= {None} or len(set(groups((title, PAGES), (title, PAGES)))) == 1
    )

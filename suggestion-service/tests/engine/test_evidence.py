"""What a reason says for a pair and against it: whole words, the passages that say the same, the signs of chance."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from explaining import explain_pair

from suggestion_service.engine import Algorithm, Corpus, Entry, Explanation, ItemText, Scorer, read, terms

PAIR = UUID(int=1), UUID(int=2)
OTHERS = [f"filler number {number} about nothing of the kind" for number in range(40)]


def explained(
    requirement: ItemText,
    test_case: ItemText,
    *,
    algorithm: Algorithm = "tfidf",
    others: list[str] = OTHERS,
    more: Callable[[Corpus], None] = lambda corpus: None,
) -> Explanation:
    """Explain a pair among other items, half of them on each side."""
    corpus = Corpus()
    for side, item_id, item in (("requirement", PAIR[0], requirement), ("test_case", PAIR[1], test_case)):
        corpus.put(side, item_id, Entry(terms(item), item.module, item.tags))  # type: ignore[arg-type]
    for number, text in enumerate(others):
        item = ItemText(title=text, description=text)
        corpus.put("requirement" if number % 2 else "test_case", UUID(int=100 + number), Entry(terms(item)))
    more(corpus)
    readings = {PAIR[0]: read(requirement), PAIR[1]: read(test_case)}
    return explain_pair(Scorer(corpus.snapshot()), algorithm, *PAIR, readings)


def item(description: str, title: str = "", **fields: Any) -> ItemText:
    return ItemText(title=title, description=description, **fields)


def named(explanation: Explanation) -> list[str]:
    return [str(term["term"]) for term in explanation.matched_terms]


def codes(explanation: Explanation) -> list[str]:
    return [sign["code"] for sign in explanation.against]


@pytest.mark.parametrize(
    ("requirement", "test_case", "whole"),
    [
        ("SHA2 hashing", "sha2 digests", "SHA2"),
        ("the spi_host0 queue", "reset of spi_host0", "spi_host0"),
        ("a clock of 50 Hz is fed", "feed 50 Hz", "50 Hz"),
        ("a clock of 50Hz is fed", "feed 50 Hz", "50 Hz"),
        ("it is locked for 15 minutes", "wait for 15 minutes", "15 minutes"),
        ("the 50th packet", "send a 50th one", "50th"),
        ("用户登录失败", "当登录失败时", "登录失败"),
    ],
)
def test_a_term_comes_whole(requirement: str, test_case: str, whole: str) -> None:
    told = explained(item(requirement), item(test_case))
    assert whole in named(told)
    assert not [term for term in named(told) if term != whole and term.casefold() in whole.casefold()]
    assert f"“{whole}”" in told.reason


def test_a_whole_term_weighs_what_its_parts_weigh() -> None:
    told = explained(item("50 Hz for spi_host0"), item("spi_host0 has 50 Hz"))
    assert sorted(named(told)) == ["50 Hz", "spi_host0"]
    assert sum(float(term["weight"]) for term in told.matched_terms) == pytest.approx(told.score, abs=1e-5)
    assert told.other_terms == 0


def test_a_part_that_stands_alone_in_both_texts_is_a_term_of_its_own() -> None:
    told = explained(item("SHA and SHA2"), item("SHA2 is no SHA"))
    assert set(named(told)) == {"SHA", "SHA2"}


def test_letters_are_joined_only_as_far_as_both_texts_go_together() -> None:
    told = explained(item("登录失败"), item("失败登录"))
    assert set(named(told)) == {"登录", "失败"}


def test_the_reason_quotes_the_passage_of_each_side_that_says_the_same() -> None:
    requirement = item("Accounts have owners. The tank is drained by the red valve. Nothing else is known.", "Accounts")
    test_case = item("Begin anywhere.", "A valve", steps={"1": "Look around", "2": "Drain the tank by the red valve"})
    told = explained(requirement, test_case)
    assert "Requirement: “The tank is drained by the red valve.”" in told.reason
    assert "Test case: “Drain the tank by the red valve”" in told.reason


def test_a_title_is_quoted_only_where_nothing_else_says_it() -> None:
    told = explained(item("Words of another kind.", "The red valve"), item("Turn the red valve.", "The red valve"))
    assert "Requirement: “The red valve”" in told.reason
    assert "Test case: “Turn the red valve.”" in told.reason


def test_a_long_passage_is_cut_at_words_around_what_counts() -> None:
    long = f"{'many words before ' * 12}drain the tank by the red valve{' and many words behind' * 12}"
    told = explained(item(long), item("Drain the tank by the red valve"))
    quoted = told.reason.partition("Requirement: “")[2].partition("”")[0]
    assert len(quoted) <= 164
    assert quoted.startswith("… ")
    assert quoted.endswith(" …")
    assert "drain the tank by the red valve" in quoted
    assert quoted[2:-2] in long
    assert set(quoted[2:-2].split()) <= set(long.split())


def test_only_common_words_speak_against_a_pair() -> None:
    common = [f"the pump and the valve of house{number}" for number in range(20)]
    told = explained(item("pump and valve"), item("valve and pump"), others=OTHERS + common)
    assert codes(told) == ["only_common_words"]
    assert "Against it: they share only common words: the rarest, “pump”, is in 22 of 62 texts." in told.reason
    but_one = explained(item("pump and zeppelin"), item("zeppelin and pump"), others=OTHERS + common)
    assert "but for “zeppelin” they share only common words" in but_one.reason
    rare = explained(item("red zeppelin"), item("zeppelin, red"), others=OTHERS + common)
    assert rare.against == []
    assert "Against" not in rare.reason


def test_a_few_items_have_no_common_words() -> None:
    assert explained(item("pump and valve"), item("valve and pump"), others=[]).against == []


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
def test_another_module_speaks_against_a_pair(algorithm: Algorithm) -> None:
    def told(*modules: str | None) -> Explanation:
        one, other = (item("red zeppelin lands", module=module) for module in modules)
        return explained(one, other, algorithm=algorithm)

    assert "other_module" in codes(told("pumps", "lamps"))
    assert "they are of different modules" in told("pumps", "lamps").reason
    assert "other_module" not in codes(told("pumps", " PUMPS "))
    assert "other_module" not in codes(told("pumps", None))


def test_a_title_that_the_other_does_not_speak_of_speaks_against_a_pair() -> None:
    told = explained(
        item("The red zeppelin lands.", "Night alarm siren"), item("A red zeppelin lands.", "Zeppelin landing")
    )
    assert codes(told) == ["requirement_title_unmatched"]
    assert "does not say “night”, “alarm”, “siren” as the title of the requirement does" in told.reason
    other_way = explained(
        item("The red zeppelin lands.", "Zeppelin landing"), item("A red zeppelin lands.", "Night alarm siren")
    )
    assert codes(other_way) == ["test_case_title_unmatched"]


def test_closer_items_speak_against_a_hybrid_pair() -> None:
    def four_closer(corpus: Corpus) -> None:
        for number in range(4):
            corpus.put("test_case", UUID(int=900 + number), Entry(terms(item("red zeppelin lands on fields"))))

    told = explained(
        item("red zeppelin lands on fields"),
        item("zeppelin of green glass and much more that only it has"),
        algorithm="hybrid",
        more=four_closer,
    )
    assert "closer_test_cases" in codes(told)
    assert "other test cases are more like this requirement" in told.reason


def test_of_a_text_of_a_megabyte_the_beginning_is_read() -> None:
    large = ItemText(title="Large", description=" ".join(f"word{number}" for number in range(120_000)))
    reading = read(large)
    assert reading.cut
    assert "word1" in reading.shown("word1")
    assert reading.shown("word119999") == "word119999"
    assert not read(ItemText(title="Small", description="A word.")).cut

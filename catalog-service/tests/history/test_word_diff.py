"""Texts compared word by word."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.history import word_diff
from catalog_service.history.word_diff import Segment, differences

TEXT = st.text(alphabet="ab. \n門é", max_size=60)


def never() -> bool:
    return False


def of_rows(longer: str, shorter: str) -> list[tuple[int, int]]:
    matches = word_diff._of_rows(longer, shorter, never)
    assert matches is not None
    return matches


def told(before: str, after: str) -> list[tuple[str, str]]:
    return [tuple(segment) for segment in differences(before, after).segments]


def assert_true(segments: list[Segment], before: str, after: str) -> None:
    assert "".join(segment.text for segment in segments if segment.op != "insert") == before
    assert "".join(segment.text for segment in segments if segment.op != "delete") == after
    for one, next_one in pairwise(segments):
        assert (one.op, next_one.op) in {
            ("equal", "delete"),
            ("equal", "insert"),
            ("delete", "insert"),
            ("delete", "equal"),
            ("insert", "equal"),
        }
    assert all(segment.text for segment in segments)


@pytest.mark.parametrize(
    ("before", "after", "segments"),
    [
        ("", "", []),
        ("same", "same", [("equal", "same")]),
        ("", "new words", [("insert", "new words")]),
        ("old words", "", [("delete", "old words")]),
        (
            "Doors close before departure",
            "Doors lock before departure",
            [("equal", "Doors "), ("delete", "close"), ("insert", "lock"), ("equal", " before departure")],
        ),
        ("Doors close.", "All doors close.", [("delete", "Doors"), ("insert", "All doors"), ("equal", " close.")]),
        ("within 5 s", "within 5.5 s", [("equal", "within 5"), ("insert", ".5"), ("equal", " s")]),
        (
            "用户登录系统",
            "用户退出系统",
            [("equal", "用户"), ("delete", "登录"), ("insert", "退出"), ("equal", "系统")],
        ),
        # Blanks and a short word in the middle of a change are no common ground.
        (
            "The quick brown fox of yesterday",
            "The lazy yellow dog of tomorrow",
            [
                ("equal", "The "),
                ("delete", "quick brown fox of yesterday"),
                ("insert", "lazy yellow dog of tomorrow"),
            ],
        ),
    ],
)
def test_differences_are_told_by_words(before: str, after: str, segments: list[tuple[str, str]]) -> None:
    assert told(before, after) == segments


@given(TEXT, TEXT)
def test_segments_make_up_both_texts(before: str, after: str) -> None:
    assert_true(differences(before, after).segments, before, after)


@given(st.text(alphabet="ab", max_size=12), st.text(alphabet="ab", max_size=12))
def test_both_ways_find_the_longest_that_texts_have_in_common(first: str, second: str) -> None:
    def longest(a: str, b: str) -> int:
        if not a or not b:
            return 0
        row = [0] * (len(b) + 1)
        for one in a:
            above, row = row, [0]
            for j, other in enumerate(b):
                row.append(above[j] + 1 if one == other else max(above[j + 1], row[j]))
        return row[-1]

    few = word_diff._match_few_edits(first, second, never)
    assert few is not None
    swapped = [(i, j) for j, i in of_rows(second, first)]
    for matches in (of_rows(first, second), few, swapped):
        assert len(matches) == longest(first, second)
        assert all(first[i] == second[j] for i, j in matches)
        assert all(i < k and j < m for (i, j), (k, m) in pairwise(matches))


def long_text(seed: int, count: int, vocabulary: int, end: str = "") -> list[str]:
    choose = random.Random(seed)
    return [f"w{choose.randrange(vocabulary)}{end if not n % 12 else ''}" for n in range(count)]


def test_few_changes_of_a_long_text_are_found_wherever_they_are() -> None:
    before = ["word"] * 40_000
    after = [*before]
    for place in (0, 17_000, 39_999):
        after[place] = "sword"
    segments, coarse = differences(" ".join(before), " ".join(after))
    assert not coarse
    assert_true(segments, " ".join(before), " ".join(after))
    assert [segment.text for segment in segments if segment.op == "insert"] == ["sword"] * 3


def test_many_changes_of_a_long_text_are_found_by_its_sentences() -> None:
    before = long_text(1, 40_000, 500, ".")
    after = ["changed" if not n % 40 else word for n, word in enumerate(before)]
    segments, coarse = differences(" ".join(before), " ".join(after))
    assert not coarse
    assert_true(segments, " ".join(before), " ".join(after))
    equal = sum(len(segment.text) for segment in segments if segment.op == "equal")
    assert equal > 0.9 * len(" ".join(after))


@pytest.mark.parametrize("vocabulary", [1, 2, 30_000])
@pytest.mark.parametrize("end", ["", "."])
def test_long_texts_that_have_little_in_common_are_told_all_the_same(vocabulary: int, end: str) -> None:
    before = " ".join(long_text(1, 60_000, vocabulary, end))
    after = "\n".join(long_text(2, 50_000, vocabulary, end))
    assert_true(differences(before, after).segments, before, after)


def test_what_is_too_long_is_told_by_whole_passages_and_the_answer_says_so() -> None:
    before = " ".join(f"w{n}" for n in range(60_000))
    segments, coarse = differences(f"Begin.\n{before}", f"Begin.\n{before.replace('w', 'v')}")
    assert coarse
    assert [segment.op for segment in segments] == ["equal", "delete", "insert"]


@given(TEXT, TEXT, st.integers(0, 40))
def test_what_is_left_when_the_time_is_over_is_told_as_replaced(before: str, after: str, looks: int) -> None:
    looked = iter(range(looks))
    segments, coarse = differences(before, after, lambda: next(looked, None) is None)
    assert_true(segments, before, after)
    assert coarse or segments == differences(before, after).segments

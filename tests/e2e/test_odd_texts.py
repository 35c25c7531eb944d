"""Texts that no algorithm was made for: every run comes to its end, and every score is one."""

import pytest

from acceptance.callers import in_one_process
from acceptance.client import Traceline

pytestmark = [in_one_process, pytest.mark.requirement("TL-SUGG-1")]

_LARGE = " ".join(f"word{number}" for number in range(80_000))
"""Close to the largest body that is taken."""
TITLES = {
    "one word": "Login",
    "stop words alone": "the of and to",
    "punctuation": "?!... --- ///",
    "emoji": "\U0001f680\U0001f680 \U0001f469\u200d\U0001f4bb \u2764\ufe0f",
    "Chinese": "\u7528\u6237\u767b\u5f55\u540e\u663e\u793a\u4e3b\u9875",
    "Arabic": "\u064a\u062c\u0628 \u0623\u0646 \u064a\u0642\u0648\u0645 \u0627\u0644\u0646\u0638\u0627\u0645",
    "Greek and Cyrillic mixed": "\u03a7\u03c1\u03ae\u03c3\u03c4\u03b7\u03c2 \u0432\u0445\u043e\u0434 user42",
    "accents apart": "Cafe\u0301 re\u0301sume\u0301 nai\u0308ve",
}


@pytest.fixture(scope="module")
def odd_items(reviewer: Traceline) -> set[str]:
    """The ids of requirements with such texts; each has a test case that says the same."""
    ids = set()
    for title in TITLES.values():
        requirement, _ = reviewer.create_pair(title=title, description=title)
        ids.add(requirement["id"])
    requirement, _ = reviewer.create_pair(title="Large", description=_LARGE)
    return ids | {requirement["id"]}


@pytest.mark.parametrize("algorithm", ["tfidf", "keyword", "hybrid"])
def test_a_run_over_odd_texts_ends_and_scores_within_0_and_1(
    reviewer: Traceline, odd_items: set[str], algorithm: str
) -> None:
    run = reviewer.generate(algorithm=algorithm, threshold=0.2)
    assert run["progress"] == 1
    found = [one for item in odd_items for one in reviewer.items("/suggestions", requirement_id=item)]
    assert all(0.0 < one["similarity_score"] <= 1.0 for one in found)
    assert {one["requirement"]["id"] for one in found} <= odd_items


def test_the_same_words_in_any_script_are_suggested(reviewer: Traceline, odd_items: set[str]) -> None:
    reviewer.generate(algorithm="tfidf", threshold=0.3)
    suggested = {
        one["requirement"]["title"]
        for item in odd_items
        for one in reviewer.items("/suggestions", requirement_id=item, min_score=0.95)
    }
    said = ("one word", "Chinese", "Arabic", "Greek and Cyrillic mixed", "accents apart")
    assert {TITLES[name] for name in said} | {"Large"} <= suggested
    assert not suggested & {TITLES["stop words alone"], TITLES["punctuation"]}

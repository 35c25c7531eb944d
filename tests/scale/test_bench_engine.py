"""The benchmark of the engine, at sizes that say nothing about speed."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks.engine.sizes import Size
from benchmarks.engine.texts import make_items
from suggestion_service.engine import terms

ROWS = {
    "pairs": (
        "Scoring 60 x 80 items",
        "a fit for each pair",
        "sklearn: fit",
        "ours: vectorise",
        "ours: load",
        "sklearn: dense cosine",
        "sparse-dot-topn, 1 thread",
        "sparse-dot-topn, 2 threads",
        "ours: tfidf",
        "ours: keyword",
        "ours: hybrid",
        "hybrid takes",
        "tfidf and sparse-dot-topn: the same pairs; 36 in both, 0 in one alone",
    ),
    "one": ("One item against all", "sklearn: fitted again", "ours: tfidf", "ours: hybrid"),
    "start": ("Loading all items", "LiveCorpus.refresh"),
    "run-embedded": (
        "A whole tfidf run through the API (embedded), 60 x 80 items",
        "sklearn: fit",
        "sparse-dot-topn, 2 threads",
        "both",
        "ours: the record is filled",
        "ours: 2 first runs",
        "ours: read, score, write",
        "ours: the same while lists are read",
        "36 suggestions of 4,800 pairs",
        "GET /api/v1/requirements?limit=20, 8 connections",
        "alone",
        "while a run is under way",
    ),
}


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.engine", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


# The whole run starts a Traceline, and loads it with items.
_LONG = dict.fromkeys(("pairs", "one", "start", "run-embedded"), pytest.mark.long)


@pytest.mark.parametrize("part", [pytest.param(part, marks=_LONG.get(part, ())) for part in ROWS])
def test_a_part_prints_all_its_rows_and_ends_by_itself(part: str) -> None:
    done = bench(part, "--sizes", "60x80")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    lines = iter(done.stdout.splitlines())
    for row in ROWS[part]:
        assert any(line.startswith(row) for line in lines), f"{row!r} is missing, or not in its place:\n{done.stdout}"


def test_what_takes_too_long_is_given_up_and_said() -> None:
    done = bench("pairs", "one", "--sizes", "60x80", "--within", "0.01")
    assert done.returncode == 1, "nobody knows whether the pairs are the same"
    assert done.stdout.count("over 0.01") == len(ROWS["pairs"]) - 2
    assert "cannot be told" in done.stdout
    assert "takes more than 0.01 s" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(("nothing",), "there is no part nothing"), (("pairs", "--sizes", "1000"), "1000 names no sizes")],
)
def test_wrong_arguments_are_refused_with_a_sentence(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.engine.__main__ import main  # takes a second or two, for scikit-learn

    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "scores", "same"),
    [
        ([0, 1, 2], [0.5, 0.7, 0.9], True),
        ([0, 1, 2], [0.5, 0.7, 0.900002], False),
        ([0, 1, 1], [0.5, 0.7, 0.9], False),
        ([0, 1], [0.5, 0.7], False),
        ([0, 1, 2, 3], [0.5, 0.7, 0.9, 0.3], True),
    ],
    ids=["equal", "another score", "another pair", "one is missing", "one is at the threshold"],
)
def test_pairs_are_the_same_or_not(tmp_path: Path, columns: list[int], scores: list[float], same: bool) -> None:
    # They take a second or two, for scikit-learn.
    from benchmarks.engine import peers, same_pairs
    from benchmarks.engine.inputs import Inputs

    inputs = Inputs(tmp_path)
    inputs.keep_pairs(peers.OUR_TERMS, np.arange(3), np.arange(3), np.array([0.5, 0.7, 0.9]))
    inputs.keep_pairs("tfidf", np.arange(len(columns)), np.array(columns), np.array(scores))
    assert same_pairs.compare(inputs, Size(4, 4), 4, 0.3) is same


def test_texts_are_the_same_each_time_and_as_long_as_they_should_be() -> None:
    items = make_items(Size(200, 300))
    assert items == make_items(Size(200, 300))
    assert [len(items[side]) for side in items] == [200, 300]
    words = [len(f"{item.text.title} {item.text.description}".split()) for side in items for item in items[side]]
    assert (min(words), max(words)) == (30, 80)


def test_most_requirements_have_a_test_that_shares_a_good_part_of_their_rarer_words() -> None:
    items = make_items(Size(200, 300))
    uses = {side: [terms(item.text).keys() for item in items[side]] for side in items}
    counts = Counter(term for side in uses for one in uses[side] for term in one)
    rare = {term for term, count in counts.items() if count < 10}
    shared = [
        max(len(asked & rare & tested) / max(1, len(asked & rare)) for tested in uses["test_case"])
        for asked in uses["requirement"]
    ]
    assert 110 <= sum(share > 0.3 for share in shared) <= 130

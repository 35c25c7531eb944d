"""`make quality`, whole, over data sets that are written here; and its measures, counted by hand."""

import csv
import io
import random
import re
import subprocess
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.labelled import Scores, Truth
from benchmarks.quality.measures import Band, bands, figures, precision_rises

Pairs = Sequence[tuple[str, str]]
Row = Sequence[str]

PLAIN = "TfidfVectorizer() and cosine, fitted on both sides"
OURS = ("tfidf", "keyword", "hybrid")

# What each requirement asks, and the test that shows it: the same words in other forms, as people write them.
ASKED_AND_TESTED = [
    ("The system shall lock an account after three failed logins.", "lockAccount: fail to login 3 times, see locking"),
    ("The system shall export the reports as CSV files.", "exporting one report gives a csv file with its lines"),
    ("The system shall retry a lost connection at most five times.", "test maxRetryCount when connections get lost"),
    ("The system shall encrypt the stored backups.", "a backup on the disk is encrypted; storing it fails w/o key"),
    ("The system shall send a notification when a job finishes.", "job_finished sends notifications to its owner"),
    ("The system shall validate the uploaded images.", "upload of an invalid image: image_validation says why"),
    ("The system shall delete the expired sessions.", "session expiry: deleting what has expired"),
    ("The system shall translate the user interface.", "uiTranslation: every label of the interface translated"),
    ("The system shall archive the closed invoices.", "close an invoice; archiving moves invoices to archiveStore"),
    ("The system shall schedule the nightly imports.", "importScheduler runs one import each night"),
    ("The system shall compress the transferred messages.", "messageCompression on transfer: compressed size"),
    ("The system shall audit the changed permissions.", "permission changes stand in the auditing trail"),
]


def write_set(folder: Path, requirements: Sequence[Row], test_cases: Sequence[Row], links: Pairs) -> None:
    folder.mkdir(parents=True)
    files: list[tuple[str, Row, Sequence[Row]]] = [
        ("requirements.csv", ("id", "title", "text"), requirements),
        ("test_cases.csv", ("id", "title", "text"), test_cases),
        ("links.csv", ("requirement_id", "test_case_id"), links),
    ]
    for name, header, rows in files:
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])


def write_small(folder: Path) -> None:
    """A dozen requirements, each with its test."""
    requirements = [(f"R{n}", "", asked) for n, (asked, _) in enumerate(ASKED_AND_TESTED)]
    test_cases = [(f"T{n}", "", tested) for n, (_, tested) in enumerate(ASKED_AND_TESTED)]
    chance = random.Random(4)
    links = [(f"R{n}", f"T{n}") for n in range(len(requirements))]
    write_set(folder, chance.sample(requirements, 12), chance.sample(test_cases, 12), links)


def write_large(folder: Path) -> None:
    """120 requirements, each with a test that says part of the same, among words that many have."""
    chance = random.Random(10)
    common = [f"common{letter}" for letter in "abcdefghijklmnopqrst"]
    rare = ["".join(chance.choices("bdfgklmnprstaeiou", k=8)) for _ in range(600)]
    requirements, test_cases = [], []
    for n in range(120):
        own = chance.sample(rare, 6)
        requirements.append((f"R{n}", "", " ".join(own + chance.sample(common, 8))))
        test_cases.append((f"T{n}", "", " ".join(own[: chance.randint(1, 6)] + chance.sample(common, 4))))
    write_set(folder, requirements, test_cases, [(f"R{n}", f"T{n}") for n in range(120)])


def measure(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What the command does with these arguments, without its start."""
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        code = main([*map(str, arguments)])
    return subprocess.CompletedProcess(arguments, code, output.getvalue(), errors.getvalue())


def macro_means(output: str) -> dict[str, list[float]]:
    """The figures of the first table by method: MAP, AP, best F1 and F1 at 0.3."""
    (table,) = (part for part in output.split("\n\n") if part.startswith("Macro means over 2 data sets\n"))
    rows = re.findall(r"^(\S.*?) +(\d\.\d{3}) +(\d\.\d{3}) +(\d\.\d{3}) +(\d\.\d{3})$", table, re.MULTILINE)
    return {method: [float(figure) for figure in figures] for method, *figures in rows}


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quality") / "datasets"
    write_small(folder / "small")
    write_large(folder / "large")
    (folder / "README.md").write_text("not a data set")
    return folder


@pytest.fixture(scope="module")
def measured(sets: Path) -> str:
    """What a measurement prints where no scorer is beside the data sets."""
    done = measure(sets)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_table_has_plain_tfidf_first_and_then_every_algorithm(measured: str) -> None:
    assert list(macro_means(measured)) == [PLAIN, *OURS]


def test_no_algorithm_ranks_worse_than_plain_tfidf(measured: str) -> None:
    means = macro_means(measured)
    for algorithm in OURS:
        for ours, plain in zip(means[algorithm][:3], means[PLAIN][:3], strict=True):
            assert ours >= plain, f"{algorithm} {means[algorithm]} beside {means[PLAIN]}"
    assert means["hybrid"][1] > means[PLAIN][1] + 0.1, "stems and split identifiers find what plain words do not"


def test_each_data_set_has_a_line_with_the_figures_of_every_algorithm(measured: str) -> None:
    number = r" +\d\.\d{3}"
    assert re.search(rf"^small +12 x 12, 12(?:{number}){{12}}$", measured, re.MULTILINE)
    assert re.search(rf"^large +120 x 120, 120(?:{number}){{12}}$", measured, re.MULTILINE)


def test_the_bands_are_shown_for_large_sets_alone(measured: str, tmp_path: Path) -> None:
    assert re.findall(r"^(\w+) +(tfidf|keyword|hybrid) +(?:-|\d\.\d\d \(\d+\)) ", measured, re.MULTILINE) == [
        ("large", algorithm) for algorithm in OURS
    ]
    write_small(tmp_path / "sets" / "small")
    assert "No data set has 100 links or more" in measure(tmp_path / "sets").stdout


def test_without_a_scorer_it_counts_by_itself_and_says_so(measured: str, sets: Path) -> None:
    place = sets.resolve().parent / "tools" / "score_links.py"
    assert measured.startswith(f"There is no scorer {place}: the figures are our own count")


@pytest.fixture
def scorer(tmp_path: Path) -> Path:
    """A scorer that says the same of everything."""
    place = tmp_path / "scorer.py"
    place.write_text('print(\'{"map": 0.25, "ap": 0.5, "f1": 0.75, "f1_t": 0.125}\')\n')
    return place


def test_a_scorer_has_the_word_and_its_quarrel_with_our_count_is_told(sets: Path, scorer: Path) -> None:
    done = measure(sets, "--scorer", scorer)
    assert macro_means(done.stdout) == {method: [0.25, 0.5, 0.75, 0.125] for method in (PLAIN, *OURS)}
    assert "hybrid over small: the scorer says" in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


def test_what_cannot_be_measured_is_refused_with_a_sentence(sets: Path, scorer: Path, tmp_path: Path) -> None:
    absent, empty, wrong = tmp_path / "absent", tmp_path / "empty", tmp_path / "wrong"
    empty.mkdir()
    write_set(wrong / "set", [("R1", "a", "b")], [("T1", "a", "b")], [("R1", "T9")])
    scorer.write_text("raise SystemExit('I need a rest.')\n")
    for arguments, says in [
        ([absent], f"There is no folder {absent}: say with DATASETS=... where the data sets are."),
        ([empty], f"{empty} has no data sets: each is a folder with requirements.csv, test_cases.csv and links.csv."),
        ([wrong], f"{wrong}/set/links.csv, line 2: requirement_id and test_case_id must name items of the data set."),
        ([sets, "--scorer", absent], f"There is no scorer {absent}: say with SCORER=... where it is."),
        ([sets, "--scorer", scorer], f"{scorer} gives no figures for {sets}/large: I need a rest."),
    ]:
        done = measure(*arguments)
        assert (done.returncode, done.stderr) == (2, f"{says}\n")


def matrix(rows: Sequence[Sequence[float]]) -> Scores:
    return np.array(rows, float)


def truth(rows: Sequence[Sequence[int]]) -> Truth:
    return np.array(rows, bool)


def test_figures_are_what_one_counts_by_hand() -> None:
    found = figures(matrix([[0.9, 0.8, 0.1], [0.7, 0.2, 0.6], [0.4, 0.3, 0.5]]), truth([[1, 0, 1], [0, 1, 0], [0] * 3]))
    # Links stand at 1 and 3 of the first row and at 3 of the second; the third has none and does not count.
    assert found.map == pytest.approx(((1 + 2 / 3) / 2 + 1 / 3) / 2)
    # In one list of nine they stand at 1, 8 and 9.
    assert found.ap == pytest.approx((1 + 2 / 8 + 3 / 9) / 3)
    # The first alone: precision 1, recall 1/3. At 0.3 it is one of seven.
    assert found.best_f1 == pytest.approx(0.5)
    assert found.f1 == pytest.approx(2 * (1 / 7) * (1 / 3) / (1 / 7 + 1 / 3))


def test_equal_scores_are_no_gift_to_the_links() -> None:
    chance = random.Random(3)
    links = truth([[chance.random() < 0.1 for _ in range(100)] for _ in range(100)])
    assert figures(np.zeros(links.shape), links).ap == pytest.approx(0.1, abs=0.02)


def test_a_score_belongs_to_the_band_that_it_reaches() -> None:
    scores = matrix([[1.0, 0.9, 0.89, 0.75], [0.74, 0.6, 0.59, 0.3], [0.29, 0.0, 0.0, 0.0]])
    assert bands(scores, truth([[1, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 0]])) == [(2, 2), (2, 1), (2, 1), (2, 1)]


@pytest.mark.parametrize(
    ("highest_first", "rises"),
    [
        ([(2, 2), (4, 3), (4, 2), (8, 1)], True),
        ([(2, 2), (4, 3), (0, 0), (8, 1)], True),
        ([(2, 2), (2, 2), (4, 2), (8, 1)], True),
        ([(0, 0), (0, 0), (0, 0), (8, 1)], True),
        ([(2, 1), (4, 3), (4, 2), (8, 1)], False),
        ([(2, 2), (4, 2), (4, 2), (8, 1)], False),
        ([(3, 0), (0, 0), (0, 0), (8, 1)], False),
    ],
)
def test_precision_rises_when_each_band_is_righter_than_the_one_below(
    highest_first: list[tuple[int, int]], rises: bool
) -> None:
    assert precision_rises([Band(*counted) for counted in highest_first]) is rises

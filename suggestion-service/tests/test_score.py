"""The scoring command: real files in, CSV out, and one clear sentence when that cannot be."""

import csv
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from suggestion_service import score
from suggestion_service.engine import ALGORITHMS, Algorithm, Corpus, Entry, ItemText, Query, Scorer, Side, terms

Row = Sequence[str]

HEADER = ("id", "title", "text")
REQUIREMENTS: list[Row] = [
    ("R1", "Login lock", "The account is locked after three failed logins."),
    ("R2", "", "Reports are exported as CSV with one line per requirement."),
    ("R3", "Password reset", "A reset link is sent by e-mail and expires after an hour."),
    ("R4", "Session timeout", ""),
    ("R5", "Zebra crossing", "Nothing of this stands in any test."),
]
TEST_CASES: list[Row] = [
    ("T1", "Expired reset links", "Open a reset link two hours after the e-mail was sent."),
    ("T2", "", "Fail to log in three times; the account must be locked."),
    ("T3", "Export", "Export the report as CSV and count its lines."),
    ("T4", "Timeout of sessions", ""),
    ("T5", "Audit", "Every change is written to the audit log."),
]


def file(path: Path, rows: Sequence[Row], header: Row = HEADER, encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as out:
        csv.writer(out).writerows([header, *rows])
    return path


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    return file(tmp_path / "requirements.csv", REQUIREMENTS)


@pytest.fixture
def test_cases(tmp_path: Path) -> Path:
    return file(tmp_path / "test_cases.csv", TEST_CASES)


def scored(capfd: pytest.CaptureFixture[str], *arguments: object) -> list[tuple[str, str, float]]:
    """What the command prints, in its order."""
    assert score.main([str(argument) for argument in arguments]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    header, *rows = csv.reader(out.splitlines(keepends=True))
    assert header == ["requirement_id", "test_case_id", "score"]
    return [(requirement, test_case, float(value)) for requirement, test_case, value in rows]


def refused(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The sentence of a command that scores nothing."""
    assert score.main([str(argument) for argument in arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    sentence, end = err.split("\n")
    assert end == ""
    return sentence


every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


@pytest.mark.parametrize(("algorithm", "expected"), [("tfidf", 0.526156), ("keyword", 0.633378)])
def test_scores_are_those_of_the_formula(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], algorithm: Algorithm, expected: float
) -> None:
    # idf is 1 for "pump", which both texts have, and ln(3 / 2) + 1 for "valve" and for "motor": the cosines are
    # 0.336097 and, by the roots of idf, 0.415720. Of the four neighbours three are missing and count 0.3: CSLS is
    # 2 x cosine - 2 x (cosine + 0.9) / 4. Of so few items as of 50, "pump" says ln(51 / 3) nats, 0.4666 of all that
    # either says: 0.1 + 0.2833 + 5 x 0.4666^4, and softly 4.8 at most, are the certainty.
    left = file(tmp_path / "left.csv", [("a", "", "pump valve")])
    right = file(tmp_path / "right.csv", [("b", "", "pump motor")])
    assert scored(capfd, left, right, "--algorithm", algorithm) == [("a", "b", expected)]


@every_algorithm
def test_every_column_counts_as_it_does_in_traceline(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], algorithm: Algorithm
) -> None:
    more = ("module", "tags", "priority", "steps", "preconditions", "postconditions")
    extra = [
        ("login", "smoke, api", "high", "Enter a wrong password.", "There is an account.", "The account is locked."),
        ("reports", "api;slow", "low", "", "", "A file is there."),
        ("", "", "high", "Click the link.", "", ""),
        ("login", "smoke", "", "", "The session is old.", ""),
        ("", "", "", "", "", ""),
    ]
    corpus = Corpus()
    sides: list[tuple[Side, list[Row]]] = [("test_case", TEST_CASES), ("requirement", REQUIREMENTS)]
    names = {}
    for side, rows in sides:
        file(tmp_path / f"{side}.csv", [(*row, *also) for row, also in zip(rows, extra, strict=True)], HEADER + more)
        for (name, title, text), (module, tags, priority, steps, before, after) in zip(rows, extra, strict=True):
            tag_list = [tag.strip() for tag in tags.replace(";", ",").split(",")] if tags else []
            item = ItemText(
                title=title or text,
                description=text or title,
                steps={"1": steps},
                preconditions=before,
                postconditions=after,
                module=module,
                tags=tag_list,
            )
            names[item_id := uuid4()] = name
            corpus.put(side, item_id, Entry(terms(item), module, tag_list, priority))
    expected = {
        (names[requirement_id], names[test_case_id]): value
        for block in Scorer(corpus.snapshot()).score(Query(algorithm, 0.0))
        for requirement_id, test_case_id, value in zip(
            block.requirement_ids.tolist(), block.test_case_ids.tolist(), block.scores.tolist(), strict=True
        )
    }
    found = scored(capfd, tmp_path / "requirement.csv", tmp_path / "test_case.csv", "--algorithm", algorithm)
    assert {(requirement, test_case): value for requirement, test_case, value in found} == expected
    assert len(expected) > len(REQUIREMENTS)


@every_algorithm
def test_the_order_of_the_rows_changes_no_score(
    tmp_path: Path, requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str], algorithm: Algorithm
) -> None:
    before = scored(capfd, requirements, test_cases, "--algorithm", algorithm)
    assert scored(capfd, requirements, test_cases, "--algorithm", algorithm) == before
    chance = random.Random(1)
    for _ in range(3):
        left = file(tmp_path / "left.csv", chance.sample(REQUIREMENTS, len(REQUIREMENTS)))
        right = file(tmp_path / "right.csv", chance.sample(TEST_CASES, len(TEST_CASES)))
        assert sorted(scored(capfd, left, right, "--algorithm", algorithm)) == sorted(before)


def test_requirements_come_as_they_stand_and_each_with_its_best_first(
    requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = scored(capfd, requirements, test_cases)
    assert found == sorted(found, key=lambda pair: (pair[0], -pair[2], pair[1]))
    best = {requirement: test_case for requirement, test_case, _ in reversed(found)}
    assert best == {"R1": "T2", "R2": "T3", "R3": "T1", "R4": "T4"}, "R5 shares no word with any test"


def test_many_items_are_scored_in_steps_as_they_are_at_once(
    requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = scored(capfd, requirements, test_cases)
    monkeypatch.setattr(score, "_PAIRS_SORTED_AT_ONCE", 10)
    monkeypatch.setattr(score, "_PAIRS_GIVEN_AT_ONCE", 3)
    assert scored(capfd, requirements, test_cases) == at_once


def test_pairs_below_the_threshold_are_left_out(
    requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    every = scored(capfd, requirements, test_cases, "--algorithm", "tfidf")
    threshold = sorted(value for _, _, value in every)[len(every) // 2]
    kept = [pair for pair in every if pair[2] >= threshold]
    assert 0 < len(kept) < len(every)
    assert scored(capfd, requirements, test_cases, "--algorithm", "tfidf", "--threshold", threshold) == kept
    assert all(value > 0 for _, _, value in every)


def test_hybrid_is_what_you_get_without_asking(
    requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    default = scored(capfd, requirements, test_cases)
    assert default == scored(capfd, requirements, test_cases, "--algorithm", "hybrid")
    assert default != scored(capfd, requirements, test_cases, "--algorithm", "tfidf")


def test_an_empty_text_is_the_title_and_an_empty_title_the_start_of_the_text(
    tmp_path: Path, test_cases: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "The account is locked after three failed logins, whoever fails and from wherever they come to log in."
    short = file(tmp_path / "short.csv", [("a", "", text), ("b", "Account lock", "")])
    full = file(tmp_path / "full.csv", [("a", text[:80], text), ("b", "Account lock", "Account lock")])
    assert scored(capfd, short, test_cases) == scored(capfd, full, test_cases) != []


def test_files_are_read_as_spreadsheets_write_them(
    tmp_path: Path, requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [(text, "not read", name, title) for name, title, text in REQUIREMENTS]
    other = file(tmp_path / "other.csv", [*rows, ()], ("Description", "owner", " ID ", "Title"), "utf-8-sig")
    assert scored(capfd, other, test_cases) == scored(capfd, requirements, test_cases)


def test_ids_are_any_text_and_may_stand_on_both_sides(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = ['a "quoted", long one', "two\nlines", "größe ✓", "R1"]
    rows = [(name, "", "The pump stops when the tank is full.") for name in names]
    found = scored(capfd, file(tmp_path / "a.csv", rows), file(tmp_path / "b.csv", rows), "--algorithm", "tfidf")
    assert [pair[:2] for pair in found] == [(left, right) for left in names for right in names]


def test_no_text_is_too_odd_to_be_scored(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    texts = ["", "pump", "pump " * 100_000, "🙂🙂", "насос 水泵", "the of and", "pump\x00tank"]
    rows = [(f"i{number}", "", text) for number, text in enumerate(texts)]
    found = scored(capfd, file(tmp_path / "a.csv", rows), file(tmp_path / "b.csv", rows))
    assert {("i1", "i1"), ("i1", "i2"), ("i4", "i4")} <= {pair[:2] for pair in found}
    assert not [pair for pair in found if {"i0", "i3", "i5"} & set(pair[:2])], "these have no words"
    assert all(0 < value <= 1 for _, _, value in found)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "bad.csv has no column id: its first line must name the columns id, title, text; it says nothing."),
        (b"id;title;text\nR1;a;b\n", "has no column id: its first line must name"),
        (b"id,text\nR1,a\n", "has no column title: its first line must name"),
        (b"id,title\nR1,a\n", "has no column text: its first line must name"),
        (b"id,title,text\n", "bad.csv has no items: put at least one line below the names of the columns."),
        (b"id,title,text\nR1,a,b\nR2,c,d\nR1,e,f\n", "bad.csv has the id R1 twice, again in line 4:"),
        (b"id,title,text\nR1,a,b\n ,c,d\n", "bad.csv has no id in the item that ends in line 3:"),
        (b"id,title,text\nR1,a,one, two\n", "bad.csv has 4 values for 3 columns up to line 2:"),
        (b"id,title,text,description\nR1,a,b,c\n", "has a column text and a column description:"),
        (b"id,title,text,tags,tags\nR1,a,b,c,d\n", "bad.csv has the column tags twice:"),
        (b'id,title,text\nR1,a,"never closed\nR2,b,c\n', "bad.csv is not well-formed CSV up to line 3:"),
        ("id,title,text\nR1,a,größer\n".encode("latin-1"), "bad.csv is not UTF-8: save it as CSV in UTF-8."),
        ("id,title,text\nR1,a,b\n".encode("utf-16"), "bad.csv is not UTF-8: save it as CSV in UTF-8."),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_bad_file_is_refused_with_a_sentence(
    tmp_path: Path, test_cases: Path, capfd: pytest.CaptureFixture[str], content: bytes, says: str, place: int
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(content)
    files = [test_cases, test_cases]
    files[place] = bad
    sentence = refused(capfd, *files)
    assert says in sentence
    assert sentence.startswith(str(bad))


def test_a_file_that_is_not_there_is_refused_with_a_sentence(
    tmp_path: Path, test_cases: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    absent = tmp_path / "absent.csv"
    assert refused(capfd, absent, test_cases) == f"{absent} cannot be read: No such file or directory."
    assert refused(capfd, tmp_path, test_cases) == f"{tmp_path} cannot be read: Is a directory."


@pytest.mark.parametrize(
    "arguments", [["--threshold", "1.5"], ["--threshold", "nan"], ["--threshold", "x"], ["--algorithm", "bm25"]]
)
def test_a_wrong_argument_is_refused(
    requirements: Path, test_cases: Path, capfd: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        score.main([str(requirements), str(test_cases), *arguments])
    assert ended.value.code == 2
    assert arguments[1] in capfd.readouterr().err


def test_the_command_is_a_program_that_a_reader_may_leave_early(tmp_path: Path) -> None:
    rows = [(f"item {number}", "", "The pump stops when the tank is full.") for number in range(120)]
    items = file(tmp_path / "items.csv", rows)
    command = [sys.executable, "-m", "suggestion_service.score", str(items), str(items)]
    whole = subprocess.run(command, capture_output=True, check=True, text=True)
    lines = whole.stdout.splitlines()
    assert (lines[0], len(lines), whole.stderr) == ("requirement_id,test_case_id,score", 1 + 120 * 120, "")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as left_early:
        assert left_early.stdout is not None
        assert left_early.stderr is not None
        assert left_early.stdout.readline().decode() == lines[0] + "\n"
        left_early.stdout.close()
        assert (left_early.stderr.read(), left_early.wait()) == (b"", 0)
    absent = subprocess.run([*command[:-1], "absent.csv"], capture_output=True, check=False, text=True)
    assert (absent.returncode, absent.stdout) == (2, "")
    assert absent.stderr == "absent.csv cannot be read: No such file or directory.\n"


def command_with(files: Sequence[Path], *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The command as a program of its own, with these environment variables."""
    command = [sys.executable, "-m", "suggestion_service.score", *map(str, files), *arguments]
    return subprocess.run(command, capture_output=True, check=False, text=True, env={**os.environ, **settings})


@pytest.mark.parametrize("arguments", [[], ["--embeddings"]])
def test_the_settings_name_the_model_as_they_do_for_the_service(
    requirements: Path, test_cases: Path, arguments: list[str]
) -> None:
    settings = {"EMBEDDINGS_ENABLED": "true", "EMBEDDINGS_MODEL": "/nowhere/at/all"}
    ended = command_with([requirements, test_cases], *arguments, **settings)
    assert (ended.returncode, ended.stdout) == (2, "")
    # The library comes first: without it there is no model either.
    installed = find_spec("sentence_transformers") is not None
    assert ("EMBEDDINGS_MODEL is /nowhere/at/all" if installed else "make embeddings") in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_where_the_settings_ask_for_embeddings_that_cannot_be_what_goes_without_is_said(
    requirements: Path, test_cases: Path
) -> None:
    settings = {"EMBEDDINGS_ENABLED": "true", "EMBEDDINGS_MODEL": "/nowhere/at/all"}
    ended = command_with([requirements, test_cases], **settings)
    assert ended.stderr.endswith("With EMBEDDINGS_ENABLED=false words alone count.\n")
    without = command_with([requirements, test_cases], **settings | {"EMBEDDINGS_ENABLED": "false"})
    assert (without.returncode, without.stderr) == (0, "")
    of_words = command_with([requirements, test_cases], "--algorithm", "tfidf", **settings)
    assert (of_words.returncode, of_words.stderr) == (0, "")


def test_a_wrong_setting_is_refused_with_a_sentence(requirements: Path, test_cases: Path) -> None:
    ended = command_with([requirements, test_cases], EMBEDDINGS_ENABLED="perhaps")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "EMBEDDINGS_ENABLED" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1

"""The data folder is taken by one run at a time, and no folder of somebody else's is."""

from pathlib import Path

import pytest

from chassis.core.start_failure import StartFailure
from embedded.data_folder import DataFolder


@pytest.mark.parametrize("demo", [False, True], ids=["run", "demo"])
def test_a_folder_with_something_else_in_it_stays_as_it_is(tmp_path: Path, demo: bool) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.odt").write_text("mine")
    with pytest.raises(StartFailure, match=r"is not empty .*\(thesis\.odt is in it\).*Set TRACELINE_DATA_DIR"):
        DataFolder(tmp_path, demo=demo)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.odt"]
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_was_taken_before_is_taken_again(tmp_path: Path) -> None:
    first = DataFolder(tmp_path / "data")
    with pytest.raises(StartFailure, match="is in use by another run"):
        DataFolder(tmp_path / "data")
    del first
    (tmp_path / "other" / "overrides").mkdir(parents=True)
    DataFolder(tmp_path / "other")


def test_who_is_refused_closes_the_folder_to_no_database_that_runs_in_it(tmp_path: Path) -> None:
    _first = DataFolder(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    tmp_path.chmod(0o710)
    with pytest.raises(StartFailure, match="is in use by another run"):
        DataFolder(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o710


@pytest.mark.parametrize("name", ["traceline.log", "url", "demo-project", "lock"])
def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(StartFailure, match=rf"{name} is a folder, .* move it away"):
        DataFolder(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("folder", ["notes.txt", "notes.txt/data"])
def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path, folder: str) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StartFailure, match=r"notes\.txt.* cannot be used, because there is a file in its place"):
        DataFolder(tmp_path / folder)
    assert (tmp_path / "notes.txt").read_text() == "mine"

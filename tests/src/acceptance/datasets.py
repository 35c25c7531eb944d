"""Real trace data: requirements, test cases and the links that are known to be right, as CSV files."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

SETTING = "TRACELINE_DATASETS"
TITLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Item:
    """A requirement or a test case, with the title and description that the API asks for."""

    id: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """One project; ``links`` are the pairs (requirement id, test case id) that its makers declare."""

    name: str
    requirements: list[Item]
    test_cases: list[Item]
    links: set[tuple[str, str]]


def folder() -> Path:
    """Where the sets are: the setting TRACELINE_DATASETS, or ``shared/datasets`` beside the repository."""
    named = os.environ.get(SETTING)
    repository = Path(__file__).resolve().parents[3]
    return Path(named) if named else repository.parent / "shared" / "datasets"


def names() -> list[str]:
    """The names of the sets that are there, sorted; none where the folder is absent."""
    return sorted(links.parent.name for links in folder().glob("*/links.csv"))


def read(name: str) -> Dataset:
    """Read one set.

    Raises:
        FileNotFoundError: there is no such set.
    """
    place = folder() / name
    return Dataset(
        name=name,
        requirements=[_item(row) for row in _rows(place / "requirements.csv")],
        test_cases=[_item(row) for row in _rows(place / "test_cases.csv")],
        links={(row["requirement_id"], row["test_case_id"]) for row in _rows(place / "links.csv")},
    )


def _item(row: dict[str, str]) -> Item:
    """Where one of title and text is empty, the other stands in for it."""
    return Item(
        id=row["id"],
        title=row["title"].strip() or row["text"].strip()[:TITLE_LENGTH].strip(),
        description=row["text"] or row["title"],
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))

"""The traceability matrix as a document: each format writes the rows as they come."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, ClassVar, Protocol, TypeVar

from catalog_service.reports.repository import MatrixRow, UnlinkedItem
from catalog_service.reports.scope import About

Cell = TypeVar("Cell")

COLUMNS = (
    "requirement_id",
    "requirement_external_id",
    "requirement_title",
    "module",
    "requirement_type",
    "requirement_priority",
    "requirement_status",
    "requirement_version",
    "covered",
    "test_case_id",
    "test_case_external_id",
    "test_case_title",
    "test_case_status",
    "link_id",
    "link_type",
    "link_source",
    "confidence_score",
    "suspect",
    "linked_at",
    "linked_by",
    "link_notes",
    "suggestion_id",
    "confirmed_at",
    "confirmed_by",
    "link_requirement_version",
    "link_test_case_version",
)
"""Of the flat form: one line a pair of requirement and test case, one for a requirement without any, and at the end one
for a test case without any."""

RESULTS = ("verdict", "last_result", "last_run_at")
"""What a line tells beside, where results are asked for."""

ROLLED = ("parents", "rolled_verdict")
"""What a line tells beside, where it is asked for what rolls up."""

_REQUIREMENT = ("id", "external_id", "title", "module", "type", "priority", "status", "version")
_TEST_CASE = (
    "id",
    "external_id",
    "title",
    "status",
    "link_id",
    "link_type",
    "link_source",
    *COLUMNS[COLUMNS.index("confidence_score") :],
)
PEOPLE = frozenset({"linked_by", "confirmed_by"})
"""Who made a link, and who confirmed it last: left out where the names of people are hidden."""


class MatrixDocument(Protocol):
    """A document under way: begun with what it is about, given the rows and then the orphans, finished, closed.

    It is written to `file`; `folder` is there for what it needs until it is closed.
    """

    media_type: ClassVar[str]
    headers: ClassVar[dict[str, str]]
    gaps_first: ClassVar[bool]
    """Whether requirements without a test case come before the others."""

    def __init__(self, file: IO[bytes], folder: str, about: About) -> None: ...

    def write(self, rows: Sequence[MatrixRow]) -> None:
        """Take some more requirements, each with its `test_cases`."""

    def write_orphans(self, rows: Sequence[UnlinkedItem]) -> None:
        """Take some more test cases without a requirement; after all requirements."""

    def finish(self) -> None:
        """Write what comes last."""

    def close(self) -> None:
        """Release what it holds, finished or not; the file stays open."""


def columns(about: About) -> tuple[str, ...]:
    """Return the columns of the flat form."""
    names = (*COLUMNS, *(RESULTS if about.has_results else ()), *(ROLLED if about.is_rolled else ()))
    return tuple(name for name in names if about.has_people or name not in PEOPLE)


def lines(rows: Sequence[Mapping[str, Any]], cell: Callable[[Any], Cell], about: About) -> Iterator[tuple[Cell, ...]]:
    """Return the flat lines of requirements with their `test_cases`, in the order of `columns`.

    Each value is what `cell` makes of it; what is the same in several lines is made once.
    """
    has_results = about.has_results
    of_link = tuple(name for name in _TEST_CASE if about.has_people or name not in PEOPLE)
    of_test_case = (*of_link, *RESULTS[1:]) if has_results else of_link
    at = len(of_link)
    blank = tuple(cell(None) for _ in of_test_case)
    for row in rows:
        requirement = (*(cell(row[name]) for name in _REQUIREMENT), cell(bool(row["test_cases"])))
        verdict = (cell(row["verdict"]),) if has_results else ()
        rolled = (cell(names_of(row["parents"])), cell(row["rolled_verdict"])) if about.is_rolled else ()
        for test_case in row["test_cases"]:
            cells = tuple(cell(test_case[name]) for name in of_test_case)
            yield (*requirement, *cells[:at], *verdict, *cells[at:], *rolled)
        if not row["test_cases"]:
            yield (*requirement, *blank[:at], *verdict, *blank[at:], *rolled)


def names_of(parents: Sequence[Mapping[str, Any]]) -> str:
    """Return by what names requirements go, in one cell."""
    return ", ".join(one["external_id"] or one["title"] for one in parents)


def orphan_lines(
    rows: Sequence[Mapping[str, Any]], cell: Callable[[Any], Cell], names: Sequence[str] = COLUMNS
) -> Iterator[tuple[Cell, ...]]:
    """Return the flat lines of test cases without a requirement, in the order of `names`; the module is their own."""
    blank = cell(None)
    for row in rows:
        named = {f"test_case_{name}": cell(row[name]) for name in ("id", "external_id", "title", "status")}
        named["module"] = cell(row["module"])
        yield tuple(named.get(name, blank) for name in names)

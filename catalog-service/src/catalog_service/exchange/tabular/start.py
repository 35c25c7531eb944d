"""Where a table begins, and how it is read."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from catalog_service.exchange.tabular.columns import Columns
from catalog_service.exchange.tabular.mapping import Mapping
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_values import Guess
from catalog_service.exchange.tabular.record_mapping import MatrixRule, Role, TypesRule
from catalog_service.exchange.tabular.table import Row, Table


@dataclass(slots=True)
class Start:
    """A table of which the header is found: its columns, a sample of its rows, and all the rows below the header."""

    table: Table
    header_row: int
    sample: Sample
    rows: Iterator[Row]
    is_own: bool
    size: int | None
    """How many rows stand below the header, None where they are more than were looked at."""
    is_header_said: bool
    """Whether somebody has said which row it is."""
    above: list[Row]
    """What stands above the header."""
    numbers: list[int] = field(default_factory=list)
    """Which rows those of the sample are, from 1 as a person counts them."""

    @property
    def has_rows(self) -> bool:
        """Whether a row stands below the header."""
        return self.size != 0

    @property
    def columns(self) -> Columns:
        """The columns by their header."""
        return self.sample.columns


@dataclass(slots=True)
class Chosen:
    """The mapping of a table, where it comes from, and what each column was taken for.

    `beside` are columns that could be of a field, too: of which one, and what was taken for it. `matrix` is of a table
    that is a matrix of marks, whose mapping says nothing more. `types` and `repeats` are as in the mapping of a sheet.
    `is_said`: somebody has said it, and it is no proposal.
    """

    mapping: Mapping
    preset: str | None = None
    guesses: dict[int, Guess] = field(default_factory=dict)
    beside: dict[int, tuple[str, int]] = field(default_factory=dict)
    matrix: MatrixRule | None = None
    types: TypesRule | None = None
    repeats: bool = False
    is_said: bool = False

    @property
    def role(self) -> Role:
        """What the table is."""
        return self.mapping.kind if self.matrix is None else "matrix"


@dataclass(slots=True)
class Part:
    """A table as it is read; `sheet` is its name where items keep it: sheets of the same columns are read as one."""

    start: Start
    chosen: Chosen
    sheet: str | None = None


@dataclass(slots=True)
class Arranged:
    """The tables of a file: those that begin, what is read of them, and which are not read.

    `main` is the table that is recognised best. `ignored` are those that are not to be read, `others` those of which
    nobody has said it. `is_said`: somebody has said which tables are read; `is_own`: they are of our own.
    """

    starts: list[Start]
    parts: list[Part]
    main: Start
    others: list[Start]
    ignored: list[Start] = field(default_factory=list)
    is_said: bool = False
    is_own: bool = False

    @property
    def chosen(self) -> Chosen:
        """How the main table is read."""
        of_main = [part.chosen for part in self.parts if part.start is self.main]
        return next((chosen for chosen in of_main if chosen.matrix is None), of_main[0])

    def by_table(self) -> list[list[Part]]:
        """Return the parts, those of one table together."""
        tables: dict[int, list[Part]] = {}
        for part in self.parts:
            tables.setdefault(id(part.start), []).append(part)
        return list(tables.values())

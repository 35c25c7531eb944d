"""What stands at the front of a report that is filed: of what it is, who made it and when, and what the gate says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from catalog_service.executions import policy_store
from catalog_service.executions.gate import Gate
from catalog_service.executions.policies import AcceptedFailures, Where
from catalog_service.reports.people import PeopleQuery
from catalog_service.verdicts import Basis
from chassis.core import projects
from chassis.core.identity import Identity
from chassis.core.problems import Invalid
from chassis.core.wording import counted
from chassis.db.database import Connection, Database

_MOST_REASONS = 5


class ShownRows(StrEnum):
    """Which requirements a report has rows of."""

    ALL = "all"
    GAPS = "gaps"
    COVERED = "covered"


class CsvHeader(StrEnum):
    """What stands above the lines of a table in CSV."""

    COLUMNS = "columns"
    FILTERS = "filters"


Header = Annotated[
    CsvHeader,
    Field(
        description="Of CSV: `filters` puts a line that begins with # above the columns: of what the table is, who made"
        " it and when, and what the gate says."
    ),
]


class FrontQuery(PeopleQuery):
    """What stands at the front of a report that is filed."""

    header: Header = CsvHeader.COLUMNS


class FiledQuery(FrontQuery):
    """What reports with a row a requirement are asked for."""

    rows: Annotated[
        ShownRows,
        Field(
            description="`gaps`: what has no test case, or no requirement, alone; `covered`: the other requirements"
            " alone. The figures stay those of all."
        ),
    ] = ShownRows.ALL


_ROWS = {
    ShownRows.GAPS: "without a test case alone",
    ShownRows.COVERED: "with a test case alone",
}


@dataclass(frozen=True)
class Front:
    """What a report says of itself before all else; what is empty is left out."""

    made_at: datetime
    filters: Mapping[str, str] = field(default_factory=dict)
    made_by: str | None = None
    """None: people are not named."""
    rows: ShownRows = ShownRows.ALL
    results_of: str = ""
    """Of which branch, environment and commit the results are."""
    gate: str = ""
    header: CsvHeader = CsvHeader.COLUMNS
    project: str = field(default_factory=projects.current.get)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What it says, by names."""
        by = f" by {self.made_by}" if self.made_by else ""
        filters = "; ".join(f"{name}: {value}" for name, value in self.filters.items())
        facts = [
            ("Project", self.project),
            ("Made", f"{self.made_at:%Y-%m-%d %H:%M} UTC{by}"),
            ("Results", self.results_of),
            ("Filters", filters or "none: the whole record"),
            ("Requirements", _ROWS.get(self.rows, "")),
            ("Gate", self.gate),
        ]
        return [(name, value) for name, value in facts if value]

    @property
    def running(self) -> str:
        """What stands at the head of each printed page, behind the title."""
        return f"{self.project}, {self.made_at:%Y-%m-%d %H:%M} UTC"

    @property
    def line(self) -> str:
        """All of it in one line."""
        return ". ".join(f"{name}: {value.rstrip('.')}" for name, value in self.facts) + "."

    def comment(self, notes: Sequence[str]) -> str:
        """Return the line above the columns of CSV, with what a reader has to know; "": none was asked for."""
        return " ".join([f"# {self.line}", *notes]) if self.header is CsvHeader.FILTERS else ""


def front_of(
    query: FrontQuery,
    filters: Mapping[str, str],
    basis: Basis,
    reader: Identity,
    rows: ShownRows = ShownRows.ALL,
) -> Front:
    """Return what a report says of itself, but for the gate; `basis`: of which results it is."""
    return Front(
        basis.now,
        filters,
        reader.email if query.shows_people else None,
        rows,
        basis.said,
        header=query.header,
    )


async def add_gate(front: Front, database: Database, connection: Connection, basis: Basis) -> Front:
    """Return the front with what the gate of the project says of the whole project, in words."""
    try:
        rules = await policy_store.unasked(connection, Where(), AcceptedFailures.DENY)
    except Invalid:
        return replace(front, gate="cannot be told: the rules in the settings of the project cannot be used")
    judged = await Gate(database, connection, basis, allow_flaky=False).judge(rules)
    broken = [rule["reason"].rstrip(".") for rule in judged["rules"] if not rule["passed"]]
    if not broken:
        return replace(front, gate=f"ready to release: {counted(len(judged['rules']), 'rule holds', 'rules hold')}")
    more = [f"and {len(broken) - _MOST_REASONS} more"] if len(broken) > _MOST_REASONS else []
    return replace(front, gate=f"not ready to release: {'. '.join([*broken[:_MOST_REASONS], *more])}")

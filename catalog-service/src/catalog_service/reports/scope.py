"""What a report is of: the filters that were given, as conditions and as a reader of the document sees them."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypedDict

from catalog_service.fields import repository as project_fields
from catalog_service.fields.definitions import PREFIX
from catalog_service.fields.filters import narrow
from catalog_service.items.kinds import REQUIREMENT, TEST_CASE
from catalog_service.items.service import narrow_by_fields, narrow_by_search
from catalog_service.reports.front import Front, ShownRows
from catalog_service.requirements.endpoints import RequirementFilters
from chassis.core.wording import nearest
from chassis.db.database import Connection, Database
from chassis.web.conditions import Conditions
from chassis.web.listing import PageQuery
from chassis.web.parameters import Choice

NOT_OF_REPORTS = frozenset({"expand", "sort"})
"""Parameters of the lists that reports do not take: they tell all, in the order of module and external id."""
_FILTERS = set(RequirementFilters.model_fields) - NOT_OF_REPORTS - PageQuery.model_fields.keys() - {"by_field"}

IS_LINKED = "EXISTS (SELECT FROM linked_requirements WHERE requirement_id = r.id)"
"""Whether a requirement `r` has a test case."""


@dataclass(frozen=True)
class Scope:
    """What a report is of: some requirements `r`, and the test cases of the same modules and tags."""

    requirements: Conditions
    test_cases: Conditions
    """Over `test_cases`: the filters that say the same of both kinds."""
    filters: Mapping[str, str]
    """The filters as they were given."""
    modules: Choice[str] | None
    rows: ShownRows = ShownRows.ALL

    @property
    def shown_requirements(self) -> Conditions:
        """Those of the requirements that have rows."""
        if self.rows is ShownRows.ALL:
            return self.requirements
        shown = deepcopy(self.requirements)
        shown.add(f"{'NOT ' if self.rows is ShownRows.GAPS else ''}{IS_LINKED}")
        return shown

    @property
    def shows_orphans(self) -> bool:
        """Whether test cases without a requirement have rows."""
        return self.rows is not ShownRows.COVERED

    def count_shown(self, counts: "Counts") -> int:
        """Return how many requirements have rows, by the counts of all."""
        covered, total = counts["covered_requirements"], counts["total_requirements"]
        return {ShownRows.ALL: total, ShownRows.GAPS: total - covered, ShownRows.COVERED: covered}[self.rows]


async def scope_of(database: Database, filters: RequirementFilters) -> Scope:
    """Return what the filters of a list of requirements choose; raise Invalid for an unknown value."""
    chosen, test_cases = filters.conditions(), filters.of_both_kinds()
    if filters.searched or filters.by_field:
        async with database.connection() as connection:
            await narrow_by_fields(connection, chosen, filters, REQUIREMENT)
            await _narrow_test_cases(connection, test_cases, filters)
            if filters.searched:
                await narrow_by_search(connection, chosen, filters.searched)
    requirements = Conditions()
    if chosen.where:
        requirements.add(f"r.id IN (SELECT id FROM requirements {chosen.where})", **chosen.parameters)
    given = filters.model_dump(include=_FILTERS, exclude_none=True) | filters.by_field
    given = {name: said if isinstance(said, str) else str(said).lower() for name, said in given.items()}
    return Scope(requirements, test_cases, given, filters.modules)


async def _narrow_test_cases(connection: Connection, conditions: Conditions, filters: RequirementFilters) -> None:
    """Ask of test cases what is asked of the fields that they have, too."""
    if filters.by_field:
        fields = await project_fields.of(connection)
        own = {f"{PREFIX}{key}" for key in fields.of(TEST_CASE.name)}
        asked = {name: said for name, said in filters.by_field.items() if name in own}
        narrow(conditions, fields, TEST_CASE.name, asked)


class Counts(TypedDict):
    """The counts of a part of the record; each adds up to that of the whole."""

    total_requirements: int
    covered_requirements: int
    total_test_cases: int
    orphan_test_cases: int
    total_links: int
    suspect_links: int


class Summary(Counts):
    """The figures of a part of the record; `coverage` is a share of 0..1, 0 of no requirement."""

    uncovered_requirements: int
    coverage: float


@dataclass(frozen=True)
class About:
    """What a document says of itself, so that it can be filed: of what it is, of when, and its figures."""

    summary: Summary
    front: Front
    notes: tuple[str, ...] = ()
    has_results: bool = False
    """Whether rows tell what results say of them."""
    has_people: bool = True
    """Whether links tell who made and confirmed them."""
    is_rolled: bool = False
    """Whether rows tell what stands above them, and what they come to with those below."""


def notes_on(modules: Choice[str], known: list[str]) -> tuple[str, ...]:
    """Return a sentence for each module asked for that nothing is in; `known` are all modules that there are."""
    asked: tuple[Any, ...] = (*modules.included, *modules.excluded)
    return tuple(_unknown(name, known) for name in asked if name and name not in known)


def _unknown(name: str, known: list[str]) -> str:
    near = nearest(name, known)
    return f"Nothing is in a module named {name!r}." + (f" Did you mean {near!r}?" if near else "")

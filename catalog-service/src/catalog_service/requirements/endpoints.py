"""The routes of requirements."""

from enum import StrEnum
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field

from catalog_service import verdict_filters
from catalog_service.items import suspicion
from catalog_service.items.endpoints import item_routes
from catalog_service.items.filters import COVERAGE, FACETS, RELATIONS, ExpandRequirement, ItemFilters
from catalog_service.items.kinds import REQUIREMENT
from catalog_service.items.related import narrow
from catalog_service.items.schemas import Coverage
from catalog_service.requirements.schemas import (
    ExpandedRequirement,
    ListedRequirement,
    Requirement,
    RequirementPatch,
    RequirementWrite,
)
from catalog_service.rolled import reads as rolled_reads
from catalog_service.rolled.queries import ALL_ROLLED_COVERAGE
from catalog_service.rolled.rules import RolledCoverage
from catalog_service.values import RequirementStatus, RequirementType
from catalog_service.verdicts import Basis, Verdict
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.facets import Facet
from chassis.web.listing import Page
from chassis.web.parameters import FREE_ALTERNATIVES, alternatives, parse_choice, parse_words

_HAS_LINK = "EXISTS (SELECT FROM linked_requirements WHERE requirement_id = requirements.id)"
_HAS_SUSPECT_LINK = f"(id IN ({suspicion.suspect_links('r.id')}))"
_COVERAGE = {
    Coverage.NONE: f"(NOT {_HAS_LINK})",
    Coverage.COVERED: _HAS_LINK,
    Coverage.SUSPECT: _HAS_SUSPECT_LINK,
}


_ROLLED_COVERAGE = {
    one: f"(id IN (WITH RECURSIVE {ALL_ROLLED_COVERAGE}"
    f" SELECT requirement_id FROM rolled_coverage WHERE coverage = '{one}'))"
    for one in RolledCoverage
}


class RequirementFilters(ItemFilters):
    """What narrows and orders a list of requirements."""

    types: ClassVar[type[StrEnum]] = RequirementType
    statuses: ClassVar[type[StrEnum]] = RequirementStatus

    type: Annotated[str | None, alternatives(RequirementType)] = None
    status: Annotated[str | None, alternatives(RequirementStatus)] = None
    coverage: Annotated[
        str | None,
        alternatives(Coverage, "none: without a link; covered: with one at least; suspect: with a suspect one. "),
    ] = None
    level: Annotated[str | None, Field(description=f"key of a level of the project; {FREE_ALTERNATIVES}")] = None
    derived: Annotated[bool | None, Field(description="Whether it has no requirement above it on purpose.")] = None

    rolled_coverage: Annotated[
        str | None,
        alternatives(
            RolledCoverage,
            "covered: with a link; covered_below: without, and all below it are covered; partly_below: some are. ",
        ),
    ] = None
    parent: Annotated[
        str | None,
        Field(max_length=100, description="Only what is below the requirement with this id or external_id."),
    ] = None
    deep: Annotated[bool | None, Field(description="With `parent`: everything below it, not only its children.")] = None
    has_parent: Annotated[bool | None, Field(description="Whether a requirement is above it.")] = None
    has_children: Annotated[bool | None, Field(description="Whether a requirement is below it.")] = None
    relation_suspect: Annotated[bool | None, Field(description="Whether one of its relations is suspect.")] = None
    expandable: ClassVar[tuple[str, ...]] = (COVERAGE, RELATIONS)
    expand: ExpandRequirement = None

    def conditions(self) -> Conditions:
        """Return what the requirements must fulfil; raises Invalid for an unknown value."""
        conditions = super().conditions()
        conditions.choose_of(_COVERAGE, parse_choice("coverage", self.coverage, Coverage))
        narrow(
            conditions,
            self.parent,
            deep=self.deep,
            has_parent=self.has_parent,
            has_children=self.has_children,
            relation_suspect=self.relation_suspect,
        )
        conditions.choose_of(_ROLLED_COVERAGE, parse_choice("rolled_coverage", self.rolled_coverage, RolledCoverage))
        conditions.choose("level", parse_words("level", self.level))
        if self.derived is not None:
            conditions.add("derived" if self.derived else "NOT derived", of="derived")
        return conditions


class RequirementsQuery(RequirementFilters):
    """What narrows and orders the list of requirements, results among it."""

    verdicts: ClassVar[type[StrEnum]] = Verdict

    verdict: Annotated[
        str | None, alternatives(Verdict, "what results on the default branch say, as GET /reports/verification: ")
    ] = None

    rolled_verdict: Annotated[str | None, alternatives(Verdict, "the same of each with all that stand below it: ")] = (
        None
    )

    async def of_verdict(self, connection: Connection, basis: Basis) -> list[UUID] | None:
        """Return the ids of requirements with the verdicts that are wanted; raises Invalid for an unknown one."""
        own = parse_choice("verdict", self.verdict, self.verdicts)
        rolled = parse_choice("rolled_verdict", self.rolled_verdict, Verdict)
        found = None if own is None else await verdict_filters.requirements_with(connection, own, basis)
        if rolled is None:
            return found
        having = await rolled_reads.with_verdict(connection, rolled, basis)
        return having if found is None else [*{*found}.intersection(having)]


router = item_routes(
    REQUIREMENT,
    written=RequirementWrite,
    patched=RequirementPatch,
    answered=Requirement,
    expanded=ExpandedRequirement,
    listed=Page[ListedRequirement],
    query=RequirementsQuery,
    facets=(*FACETS, Facet("level", "level")),
)

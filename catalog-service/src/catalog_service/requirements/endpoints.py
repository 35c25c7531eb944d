"""The routes of requirements."""

from enum import StrEnum
from typing import Annotated, ClassVar
from uuid import UUID

from catalog_service import verdict_filters
from catalog_service.items import suspicion
from catalog_service.items.endpoints import item_routes
from catalog_service.items.filters import FACETS, ItemFilters
from catalog_service.items.kinds import REQUIREMENT
from catalog_service.items.schemas import Coverage
from catalog_service.requirements.schemas import (
    ExpandedRequirement,
    ListedRequirement,
    Requirement,
    RequirementPatch,
    RequirementWrite,
)
from catalog_service.values import RequirementStatus, RequirementType
from catalog_service.verdicts import Basis, Verdict
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.listing import Page
from chassis.web.parameters import alternatives, parse_choice

_HAS_LINK = "EXISTS (SELECT FROM linked_requirements WHERE requirement_id = requirements.id)"
_HAS_SUSPECT_LINK = f"(id IN ({suspicion.suspect_links('r.id')}))"
_COVERAGE = {
    Coverage.NONE: f"(NOT {_HAS_LINK})",
    Coverage.COVERED: _HAS_LINK,
    Coverage.SUSPECT: _HAS_SUSPECT_LINK,
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

    def conditions(self) -> Conditions:
        """Return what the requirements must fulfil; raises Invalid for an unknown value."""
        conditions = super().conditions()
        conditions.choose_of(_COVERAGE, parse_choice("coverage", self.coverage, Coverage))
        return conditions


class RequirementsQuery(RequirementFilters):
    """What narrows and orders the list of requirements, results among it."""

    verdicts: ClassVar[type[StrEnum]] = Verdict

    verdict: Annotated[
        str | None, alternatives(Verdict, "what results on the default branch say, as GET /reports/verification: ")
    ] = None

    async def of_verdict(self, connection: Connection, basis: Basis) -> list[UUID] | None:
        """Return the ids of requirements with the verdicts that are wanted; raises Invalid for an unknown one."""
        chosen = parse_choice("verdict", self.verdict, self.verdicts)
        return None if chosen is None else await verdict_filters.requirements_with(connection, chosen, basis)


router = item_routes(
    REQUIREMENT,
    written=RequirementWrite,
    patched=RequirementPatch,
    answered=Requirement,
    expanded=ExpandedRequirement,
    listed=Page[ListedRequirement],
    query=RequirementsQuery,
    facets=FACETS,
)

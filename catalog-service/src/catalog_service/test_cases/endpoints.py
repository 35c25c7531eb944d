"""The routes of test cases."""

from enum import StrEnum
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import Field

from catalog_service import verdict_filters
from catalog_service.items.endpoints import item_routes
from catalog_service.items.filters import FACETS, ItemFilters
from catalog_service.items.kinds import TEST_CASE
from catalog_service.test_cases.schemas import ExpandedTestCase, ListedTestCase, TestCase, TestCasePatch, TestCaseWrite
from catalog_service.values import AutomationStatus, TestCaseStatus, TestCaseType
from catalog_service.verdicts import Basis, TestCaseVerdict
from chassis.db.database import Connection
from chassis.web.conditions import Conditions
from chassis.web.facets import Facet
from chassis.web.listing import Page
from chassis.web.parameters import alternatives, parse_choice

_HAS_LINK = "EXISTS (SELECT FROM linked_test_cases WHERE test_case_id = test_cases.id)"


class TestCaseFilters(ItemFilters):
    """What narrows and orders a list of test cases."""

    types: ClassVar[type[StrEnum]] = TestCaseType
    statuses: ClassVar[type[StrEnum]] = TestCaseStatus

    type: Annotated[str | None, alternatives(TestCaseType)] = None
    status: Annotated[str | None, alternatives(TestCaseStatus)] = None
    automation_status: Annotated[str | None, alternatives(AutomationStatus)] = None
    linked: Annotated[bool | None, Field(description="Whether a requirement is linked.")] = None

    def conditions(self) -> Conditions:
        """Return what the test cases must fulfil; raises Invalid for an unknown value."""
        conditions = super().conditions()
        conditions.choose(
            "automation_status", parse_choice("automation_status", self.automation_status, AutomationStatus)
        )
        if self.linked is not None:
            conditions.add(_HAS_LINK if self.linked else f"NOT {_HAS_LINK}")
        return conditions


class TestCasesQuery(TestCaseFilters):
    """What narrows and orders the list of test cases, results among it."""

    verdicts: ClassVar[type[StrEnum]] = TestCaseVerdict

    verdict: Annotated[
        str | None,
        alternatives(TestCaseVerdict, "how it stands on the default branch, as GET /reports/test-case-verdicts: "),
    ] = None

    async def of_verdict(self, connection: Connection, basis: Basis) -> list[UUID] | None:
        """Return the ids of test cases with the verdicts that are wanted; raises Invalid for an unknown one."""
        chosen = parse_choice("verdict", self.verdict, self.verdicts)
        return None if chosen is None else await verdict_filters.test_cases_with(connection, chosen, basis)


router = item_routes(
    TEST_CASE,
    written=TestCaseWrite,
    patched=TestCasePatch,
    answered=TestCase,
    expanded=ExpandedTestCase,
    listed=Page[ListedTestCase],
    query=TestCasesQuery,
    facets=(*FACETS, Facet("automation_status", "automation_status")),
)

"""HTTP: try patterns of names before a project keeps them."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from catalog_service.executions import name_patterns
from catalog_service.executions.name_patterns import Effect
from catalog_service.executions.schemas import AutomatedTest
from catalog_service.items.schemas import ShortItem
from catalog_service.snapshot import snapshot
from chassis.db.database import Db
from chassis.web.callers import Viewer
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute
from contracts.name_patterns import MOST_PATTERNS, NamePattern

router = APIRouter(prefix="/api/v1/automated-tests", route_class=StrictRoute, tags=["Results"])


class NamePatterns(BaseModel):
    """Patterns to try; null: what is looked for in a project without any."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"patterns": [{"name": "tc{number}", "external_id": "TC-{number}"}]}]},
    )

    patterns: Annotated[list[NamePattern] | None, Field(max_length=MOST_PATTERNS)]


class FoundPattern(BaseModel):
    """A pattern, and how many tests have it in their name."""

    name: str
    external_id: str
    tests: int


class Effects(BaseModel):
    """How many tests the patterns would have which effect on, with their next results."""

    changed: Annotated[int, Field(description="They count for other test cases today.")]
    new: Annotated[int, Field(description="They count for none today.")]
    remembered: Annotated[int, Field(description="Their names name none any more; they count for those of today.")]
    unknown: Annotated[int, Field(description="Their names have external ids that no test case has.")]
    overruled: Annotated[
        int, Field(description="Their results name other test cases by a property, which comes first.")
    ]
    same: Annotated[int, Field(description="They count for the same test cases today.")]


class TriedTest(BaseModel):
    """A test as it is, and what the patterns find in its name."""

    test: AutomatedTest
    effect: Effect
    external_ids: Annotated[list[str], Field(description="What its name has by the patterns.")]
    test_cases: Annotated[list[ShortItem], Field(description="Those that have such an external id.")]


class TriedPatterns(BaseModel):
    """What patterns would make of the tests that CI runs."""

    tests: Annotated[int, Field(description="All that CI runs.")]
    effects: Effects
    patterns: list[FoundPattern]
    items: Annotated[list[TriedTest], Field(description="Tests with an effect, changed ones first, by class and name.")]
    total: Annotated[int, Field(description="How many tests have an effect.")]


@router.post("/try-patterns", response_model=TriedPatterns, summary="Try patterns of the names of tests")
async def try_name_patterns(
    body: NamePatterns,
    _: Viewer,
    database: Db,
    skip: Annotated[int, Query(ge=0, le=10**6, description="How many of the tests to leave out.")] = 0,
    limit: Annotated[int, Query(ge=1, le=500, description="How many of the tests to list at most.")] = 50,
) -> Response:
    """Return which tests the patterns would match with which test cases, and what that changes. Nothing is stored.

    The project's setting `name_patterns` keeps them (PATCH /projects/{key}). It holds for results that are sent from
    then on. What is known of a test is its name without parameters, and one name with them.
    """
    async with snapshot(database) as connection:
        return answer(await name_patterns.try_out(connection, body.patterns, skip, limit))

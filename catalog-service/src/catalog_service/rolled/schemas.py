"""What is answered of a requirement with those below it, for the OpenAPI document."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field

from catalog_service.rolled.rules import RolledCoverage
from catalog_service.verdict_schemas import CountsByVerdict
from catalog_service.verdicts import Verdict


class MembersByVerdict(CountsByVerdict):
    """How many have which verdict: of the requirement itself and all below it, each once.

    One without tests that has children is left out: its children speak for it.
    """


class Rolled(BaseModel):
    """The verdict of a requirement with all below it, by relations that roll up: `refines` and `derives_from`.

    The first that holds: `uncovered`, if all are; `failed`, if any is; `flaky`, if any is; `partial`, if some have
    passed and others have not; `not_run`; `stale`; `passed`.
    """

    verdict: Verdict
    counts: MembersByVerdict
    worst: Annotated[
        list[UUID], Field(max_length=5, description="The first five that have not passed, those that fail first.")
    ]


Below = Annotated[
    RolledCoverage,
    Field(
        description="covered: it has a link; covered_below: it has none, and all below it are covered; partly_below:"
        " some of them are; uncovered."
    ),
]

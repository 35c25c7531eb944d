"""What the reports over levels answer, for the OpenAPI document."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field

from catalog_service.items.schemas import ShortItem
from catalog_service.reports.schemas import ReportedItem
from catalog_service.rolled.schemas import Below, Rolled
from catalog_service.values import RelationType
from catalog_service.verdicts import TestCaseVerdict, Verdict
from chassis.web.listing import Page

T = TypeVar("T")


class Direction(StrEnum):
    """Which way a report goes: `down` to the children, `up` to the parents."""

    DOWN = "down"
    UP = "up"


class ReachedTest(ShortItem):
    """A test case with a link to a requirement that was reached."""

    link_id: UUID
    verdict: Annotated[
        TestCaseVerdict | None, Field(description="For this requirement; null where it does not count for it.")
    ]


class ReachedRequirement(ShortItem):
    """A requirement that a change reaches."""

    status: str
    depth: Annotated[int, Field(description="By how many relations, on the shortest way.")]
    via: Annotated[list[UUID], Field(description="The relations by which it is reached from those before it.")]
    tests: list[ReachedTest]


class ReachedAtDepth(BaseModel):
    """How much there is at a depth; depth 0 is the requirement itself."""

    depth: int
    requirements: int
    relations: int
    tests: int
    links: int


class RelationInQuestion(BaseModel):
    """A relation that a change of meaning makes suspect."""

    id: UUID
    relation_type: RelationType
    child: ShortItem
    parent: ShortItem


class LinkInQuestion(BaseModel):
    """A link that a change of meaning makes suspect."""

    id: UUID
    link_type: str
    test_case: ShortItem


class InQuestion(BaseModel, Generic[T]):
    """The first 50, and how many there are."""

    items: list[T]
    total: int


class PutInQuestion(BaseModel):
    """What a change of meaning of the requirement itself makes suspect that is not so already."""

    relations: InQuestion[RelationInQuestion]
    links: InQuestion[LinkInQuestion]


class Impact(BaseModel):
    """What a change of a requirement reaches."""

    requirement: ShortItem
    direction: Direction
    depth: int
    relation_types: list[RelationType]
    becomes_suspect: PutInQuestion
    tests: Annotated[list[ReachedTest], Field(description="Those of the requirement itself.")]
    items: Annotated[list[ReachedRequirement], Field(description="Those next to it first; the first 1000.")]
    total: int
    totals: list[ReachedAtDepth]
    branch: str
    environment: str | None
    commit: str | None


class TreeRow(ReportedItem):
    """A requirement of the tree, with what it comes to with all below it."""

    version: int
    verdict: Annotated[Verdict, Field(description="Its own.")]
    rolled: Rolled
    rolled_coverage: Below
    children: Annotated[int, Field(description="How many stand right below it.")]
    tests: Annotated[int, Field(description="Its own links.")]
    suspect_links: int
    suspect_relations: Annotated[int, Field(description="With parents and children, of whatever type.")]


class TraceTree(Page[TreeRow]):
    """A page of the roots, or of the children of `parent`."""

    parent: ShortItem | None
    project: str
    made_at: datetime
    branch: str
    environment: str | None
    commit: str | None


class TreeFormat(StrEnum):
    """Forms of the tree."""

    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    HTML = "html"

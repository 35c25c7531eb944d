"""What the reports over levels answer, for the OpenAPI document."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from catalog_service.items.schemas import ShortItem
from catalog_service.levels.schemas import Level, Need
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


class ScoredLevel(Level):
    """A level of the project, and how many requirements are of it."""

    requirements: int


class LevelScore(BaseModel):
    """What the requirements of a level have of a kind: one above or below them, or a test."""

    level: Annotated[str, Field(description="Key of the level.")]
    need: Need
    other: Annotated[
        str | None,
        Field(
            description="Key of the level next to it on that side; null of tests, and where there is none: any counts."
        ),
    ]
    needed: Annotated[bool, Field(description="Whether the level says that it needs this.")]
    expected: Annotated[int, Field(description="Requirements of the level; for a parent, those that are not derived.")]
    present: Annotated[int, Field(description="Of these, those that have one of the level `other`, or a test.")]
    elsewhere: Annotated[int, Field(description="Of the others, those that have one of another level, or of none.")]
    suspect: Annotated[int, Field(description="Of those present, those with a suspect one.")]
    share: Annotated[float | None, Field(description="present / expected, 0 to 1; null where nothing is expected.")]


class LevelScores(BaseModel):
    """How complete the trace between the levels of the project is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "project": "MAIN",
                    "made_at": "2026-03-02T08:15:00.123456Z",
                    "levels": [
                        {"key": "system", "name": "System requirement", "needs": ["child"], "requirements": 40},
                        {"key": "software", "name": "Software requirement", "needs": ["parent"], "requirements": 120},
                    ],
                    "without_level": 3,
                    "rows": [
                        {
                            "level": "system",
                            "need": "child",
                            "other": "software",
                            "needed": True,
                            "expected": 40,
                            "present": 38,
                            "elsewhere": 0,
                            "suspect": 2,
                            "share": 0.95,
                        }
                    ],
                    "share": 0.9625,
                }
            ]
        }
    )

    project: str
    made_at: datetime
    levels: list[ScoredLevel]
    without_level: Annotated[int, Field(description="Requirements of no level, which no row counts.")]
    rows: list[LevelScore]
    share: Annotated[float | None, Field(description="Of all that is needed, what is there; null where nothing is.")]


class TreeFormat(StrEnum):
    """Forms of the tree."""

    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    HTML = "html"

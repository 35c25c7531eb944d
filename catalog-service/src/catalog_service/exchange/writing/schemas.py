"""What an export is of, as a request asks for it."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from catalog_service.exchange.formats import Kinds
from catalog_service.items.filters import ItemFilters
from catalog_service.items.schemas import Coverage
from catalog_service.rolled.rules import RolledCoverage
from catalog_service.values import AutomationStatus, RequirementStatus, RequirementType, TestCaseStatus, TestCaseType
from catalog_service.verdicts import TestCaseVerdict, Verdict
from chassis.web.parameters import FREE_ALTERNATIVES, alternatives


class ExportFormat(StrEnum):
    """The form of an export."""

    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    XLSX = "xlsx"
    REQIF = "reqif"
    REQIFZ = "reqifz"


class Profile(StrEnum):
    """Whether an export holds what only a restore takes: ids, versions and times."""

    NATIVE = "native"
    PLAIN = "plain"


def _together(name: str, *kinds: type[StrEnum]) -> Any:
    return StrEnum(name, {member.name: member.value for kind in kinds for member in kind})


ItemType = _together("ItemType", RequirementType, TestCaseType)
ItemStatus = _together("ItemStatus", RequirementStatus, TestCaseStatus)
ItemVerdict = _together("ItemVerdict", Verdict, TestCaseVerdict)


class ExportQuery(ItemFilters):
    """What is exported, and in which form."""

    types: ClassVar[type[StrEnum]] = ItemType
    statuses: ClassVar[type[StrEnum]] = ItemStatus
    verdicts: ClassVar[type[StrEnum]] = ItemVerdict

    type: Annotated[str | None, alternatives(ItemType, "of either kind: ")] = None
    status: Annotated[str | None, alternatives(ItemStatus, "of either kind: ")] = None
    coverage: Annotated[str | None, alternatives(Coverage, "of requirements, as in their list: ")] = None
    rolled_coverage: Annotated[str | None, alternatives(RolledCoverage, "of requirements, as in their list: ")] = None
    rolled_verdict: Annotated[str | None, alternatives(Verdict, "of requirements, as in their list: ")] = None
    parent: Annotated[str | None, Field(max_length=100, description="Of requirements, as in their list.")] = None
    deep: Annotated[bool | None, Field(description="With `parent`.")] = None
    has_parent: Annotated[bool | None, Field(description="Of requirements, as in their list.")] = None
    has_children: Annotated[bool | None, Field(description="Of requirements, as in their list.")] = None
    relation_suspect: Annotated[bool | None, Field(description="Of requirements, as in their list.")] = None
    level: Annotated[str | None, Field(description=f"Of requirements, as in their list; {FREE_ALTERNATIVES}")] = None
    derived: Annotated[bool | None, Field(description="Of requirements, as in their list.")] = None
    automation_status: Annotated[str | None, alternatives(AutomationStatus, "of test cases: ")] = None
    linked: Annotated[bool | None, Field(description="Of test cases: whether a requirement is linked.")] = None
    verdict: Annotated[str | None, alternatives(ItemVerdict, "of either kind, as in its list: ")] = None
    kind: Annotated[Kinds, Field(description="What is exported: one kind, or all.")] = Kinds.ALL
    links: Annotated[bool, Field(description="Whether links between what is exported are, too.")] = True
    profile: Annotated[
        Profile,
        Field(
            description="native: with ids, versions and times, so that it can be restored. plain: without, for another"
            " installation or program; items are named by external_id."
        ),
    ] = Profile.NATIVE
    mapping: Annotated[
        str | None,
        Field(
            max_length=100,
            description="A table for another tool, as csv or xlsx: the name of a preset or of a saved mapping, which is"
            " read backwards; `plain` is for people. The header `Warning` says what has no column there.",
            examples=["testrail"],
        ),
    ] = None
    format: Annotated[
        ExportFormat | None, Field(description="Default: what `Accept` prefers, and json where it does not say.")
    ] = None


class ReadFormat(BaseModel):
    """A format that can be imported."""

    name: str
    label: str
    media_types: list[str]
    suffixes: list[str]
    has_columns: Annotated[bool, Field(description="Whether it is a table, whose columns a mapping names.")]


class WrittenFormat(BaseModel):
    """A format that can be exported."""

    name: str
    media_type: str
    suffix: str


class Preset(BaseModel):
    """A mapping for the tables of a known tool, to be named where a saved mapping is."""

    name: str
    label: str
    kind: str


class Limits(BaseModel):
    """What an import may have at most."""

    file_bytes: int
    unpacked_bytes: int
    rows: int
    columns: int
    cell_characters: int


class Templates(BaseModel):
    """A CSV file of each kind with one row, to begin with; the columns are those of workbooks, too."""

    requirements: str
    test_cases: str
    links: str


class Formats(BaseModel):
    """What can be read and written."""

    read: list[ReadFormat]
    written: list[WrittenFormat]
    presets: list[Preset]
    limits: Limits
    templates: Templates

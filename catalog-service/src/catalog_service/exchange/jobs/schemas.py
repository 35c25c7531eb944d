"""Imports as the API takes and answers them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from catalog_service.exchange.jobs.options import OnChange
from chassis.web.tagged import TAGGED_EXAMPLE, Tagged


class ImportStatus(StrEnum):
    """How far an import is."""

    RECEIVED = "received"
    READING = "reading"
    PLANNED = "planned"
    APPLYING = "applying"
    APPLIED = "applied"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class ImportAction(StrEnum):
    """What a row does to the record."""

    CREATE = "create"
    UPDATE = "update"
    UNCHANGED = "unchanged"
    CONFLICT = "conflict"
    ERROR = "error"
    SKIP = "skip"
    DELETE = "delete"
    WAIT = "wait"


class ImportRowKind(StrEnum):
    """What a row of a file is."""

    REQUIREMENT = "requirement"
    TEST_CASE = "test_case"
    LINK = "link"
    RELATION = "relation"
    REVISION = "revision"
    REFERENCE = "reference"


class ImportActions(BaseModel):
    """How many rows of a kind have each action."""

    create: int
    update: int
    unchanged: int
    conflict: int
    error: int
    skip: int
    delete: int
    wait: Annotated[int, Field(description="Links and relations that wait for an item that is not there.")] = 0


class ImportCounts(BaseModel):
    """How many rows of each kind have each action."""

    requirements: ImportActions
    test_cases: ImportActions
    links: ImportActions
    relations: Annotated[ImportActions, Field(description="Nothing in plans of older versions.")]


class ImportSheet(ImportCounts):
    """A sheet of a workbook, and how many of its rows of each kind have each action."""

    sheet: str


class ImportRemark(BaseModel):
    """A problem or a warning, how often it was met, and where first."""

    code: str
    count: int
    row: int | None
    message: str


class PlanWarning(ImportRemark):
    """A warning; `unclean`: something of the file is in no item and no link, so that the plan is not clean."""

    unclean: bool = False


class ImportSummary(BaseModel):
    """What a person has to know before it is applied; `clean`: no conflict, no error, and no warning is `unclean`."""

    clean: bool
    problems: list[ImportRemark]
    warnings: list[PlanWarning]
    defaulted: Annotated[
        dict[str, int], Field(description="Required fields that the file lacks, and in how many rows.")
    ]
    sheets: Annotated[
        list[ImportSheet], Field(description="Of a workbook: what its sheets have. Nothing in plans of older versions.")
    ] = []
    makes_suspect: Annotated[int, Field(description="Links that become suspect, since an item changes its meaning.")]
    to_score: Annotated[
        int | None,
        Field(
            description="Items that say something new: they are compared with the other side once it is applied, and"
            " suggestions follow, unless `suggest` or the project wants none. Null in plans of older versions."
        ),
    ] = None


class ImportFailure(BaseModel):
    """Why an import did not go on: `code` and `detail` of a problem, and where in the file it is."""

    model_config = ConfigDict(extra="allow")

    code: str
    detail: str
    line: int | None = None
    column: int | None = None
    offset: int | None = None


_ACTIONS: JsonDict = {action.value: 0 for action in ImportAction}
IMPORT_EXAMPLE: JsonDict = {
    "id": "5b0e8a52-7f5c-4f0e-9a43-2b7c1f0d9e11",
    "status": "planned",
    "progress": 0.6,
    "phase": "planned",
    "format": "csv",
    "file_name": "requirements.csv",
    "size": 18422,
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "options": {"format": "auto", "kind": "all", "apply": "never", "mode": "merge"},
    "counts": {
        "requirements": {**_ACTIONS, "create": 12, "update": 3, "error": 1},
        "test_cases": _ACTIONS,
        "links": _ACTIONS,
        "relations": _ACTIONS,
    },
    "summary": {
        "clean": False,
        "problems": [
            {
                "code": "not_one_of",
                "count": 1,
                "row": 17,
                "message": "There is no priority 'Hihg'; it can be critical, high, medium or low. Did you mean high?",
            }
        ],
        "warnings": [
            {
                "code": "relations_kept",
                "count": 12,
                "row": None,
                "message": "12 relations between requirements are kept as further data; Traceline does not make them"
                " yet.",
                "unclean": True,
            }
        ],
        "defaulted": {"type": 16},
        "sheets": [],
        "makes_suspect": 3,
        "to_score": 15,
    },
    "rows_read": 16,
    "plan_hash": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "record_position": 4711,
    "search_ready": False,
    "created_by": "kim@example.com",
    "created_at": "2026-03-02T08:15:00.123456Z",
    "planned_at": "2026-03-02T08:15:01.123456Z",
    "applied_at": None,
    "expires_at": "2026-03-03T08:15:01.123456Z",
    "error": None,
}


class Import(BaseModel):
    """An import: `planned` is the dry run, which has changed nothing."""

    model_config = ConfigDict(json_schema_extra={"examples": [IMPORT_EXAMPLE]})

    id: UUID
    status: ImportStatus
    progress: Annotated[float, Field(description="0..1: read up to 0.5, planned at 0.6, applied at 1.")]
    phase: str | None
    format: str | None
    file_name: str | None
    size: int
    sha256: str
    options: dict[str, Any]
    counts: ImportCounts | None
    summary: ImportSummary | None
    rows_read: int
    plan_hash: Annotated[str | None, Field(description="What POST .../apply expects, as `expect`.")]
    record_position: Annotated[int | None, Field(description="Up to which change of the record the plan looked.")]
    search_ready: Annotated[bool, Field(description="Whether the search finds all that was imported.")]
    created_by: str
    created_at: datetime
    planned_at: datetime | None
    applied_at: datetime | None
    expires_at: Annotated[datetime | None, Field(description="When the file and the rows of the report are deleted.")]
    error: ImportFailure | None


class ListedImport(Tagged, Import):
    """An import as a row of a list."""

    model_config = ConfigDict(json_schema_extra={"examples": [{**IMPORT_EXAMPLE, **TAGGED_EXAMPLE}]})


class ImportFieldChange(BaseModel):
    """A field before and after."""

    field: str
    before: Any
    after: Any


class ImportProblem(BaseModel):
    """What is wrong with a row, or worth knowing, in a sentence: of which column, or of which field."""

    column: Annotated[int | None, Field(description="The place of the column, from 1, in a table.")] = None
    cell: Annotated[str | None, Field(description="As spreadsheet programs call it.", examples=["E17"])] = None
    name: str | None
    code: str
    message: str
    value: str | None = None


class ImportRow(BaseModel):
    """A row of a file and what it does to the record."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "position": 16,
                    "row": 17,
                    "line": 42,
                    "sheet": None,
                    "kind": "requirement",
                    "action": "update",
                    "code": None,
                    "key": "REQ-17",
                    "item_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
                    "title": "Doors close before departure",
                    "changes": [{"field": "priority", "before": "low", "after": "high"}],
                    "raises_version": True,
                    "makes_suspect": 3,
                    "problems": [],
                    "warnings": [],
                }
            ]
        }
    )

    position: Annotated[int, Field(description="The place in the plan, from 1.")]
    row: Annotated[
        int | None, Field(description="The row of the file as its program counts it; null where it has none.")
    ]
    line: int | None
    sheet: Annotated[str | None, Field(description="Of a workbook: the name of the sheet.")]
    kind: ImportRowKind
    action: ImportAction | None
    code: str | None
    key: str | None
    item_id: UUID | None
    title: str | None
    changes: list[ImportFieldChange]
    raises_version: bool
    makes_suspect: int
    problems: list[ImportProblem]
    warnings: list[ImportProblem]


class ApplyImport(BaseModel):
    """How a planned import is to be applied."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"expect": IMPORT_EXAMPLE["plan_hash"], "on_change": "refuse"}]}
    )

    expect: Annotated[
        str | None, Field(description="The `plan_hash` that was seen; another plan is refused.", max_length=100)
    ] = None
    on_change: Annotated[
        OnChange,
        Field(description="When the record is not any more as planned: refused, or planned again and applied."),
    ] = OnChange.REFUSE
    atomic: Annotated[bool | None, Field(description="All or nothing; else 1,000 rows at a time.")] = None
    suggest: Annotated[bool | None, Field(description="Whether suggestions are looked for afterwards.")] = None

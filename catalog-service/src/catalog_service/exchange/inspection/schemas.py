"""What is said of a file that is inspected."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from catalog_service.exchange.jobs.schemas import ImportProblem
from catalog_service.fields.definitions import FieldKind


class InspectedValue(BaseModel):
    """What cells of a column say, and how many of the first rows say it."""

    value: str
    count: int


class FieldToMake(BaseModel):
    """The field of the project that could be made of a column, which has so many different values."""

    key: str
    name: str
    kind: FieldKind
    values: int
    choices: list[str] = []


class InspectedColumn(BaseModel):
    """A column of a table, and what it is taken for: `field`, how sure that is (0..1), and why."""

    model_config = ConfigDict(extra="allow")

    name: str
    header: Annotated[
        str, Field(description="By which a mapping names it; `name` has what stands above several columns, too.")
    ] = ""
    position: int
    samples: list[str] = []
    blanks: int = 0
    values: Annotated[
        list[InspectedValue], Field(description="All that it says in the first rows, where that is a list of a few.")
    ] = []
    field: str | None = None
    confidence: float | None = None
    reason: str | None = None
    make: Annotated[
        FieldToMake | None, Field(description="Of a column without a field: what a mapping can have it made.")
    ] = None


class InspectedPart(BaseModel):
    """A table that is read: its sheet, what its rows are, and its columns."""

    sheet: str | None
    role: Annotated[str, Field(description="What its rows are, as in a mapping.", examples=["test_cases"])]
    header_row: int
    preset: Annotated[str | None, Field(description="The tool whose exports look so.")]
    columns: list[InspectedColumn]


class InspectedTableRow(BaseModel):
    """A row as it stands in the file; of long cells, the beginning."""

    row: int
    cells: list[str]


class InspectedTable(BaseModel):
    """A table of the file, read or not, as it stands there: its header and its first rows."""

    sheet: str | None
    header_row: int
    count: Annotated[
        int | None, Field(description="How many rows stand below the header; null where they are more than 200.")
    ]
    names: Annotated[list[str], Field(description="Of the columns.")]
    rows: Annotated[list[InspectedTableRow], Field(description="The first 20, fewer of many wide tables.")]


class InspectedType(BaseModel):
    """A type that the first rows of a table say in a column, or that a format has, and what its items become."""

    sheet: str | None
    type: str
    count: int
    example: str
    proposed: Annotated[str, Field(examples=["requirements", "test_cases", "ignore"])]
    reason: str


class InspectedRow(BaseModel):
    """A row as it would be read."""

    row: int
    line: int | None
    sheet: str | None
    kind: str
    fields: dict[str, Any]
    problems: list[ImportProblem]
    warnings: list[ImportProblem]


class InspectedWarning(BaseModel):
    """Something about the file that a person has to know."""

    code: str
    message: str


class Inspected(BaseModel):
    """What a file looks like, and how it would be read."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "format": "csv",
                    "encoding": "utf-8",
                    "dialect": {"delimiter": ";", "quote": '"'},
                    "sheets": [],
                    "columns": [
                        {
                            "name": "Summary",
                            "position": 1,
                            "samples": ["Doors close"],
                            "blanks": 0,
                            "field": "title",
                            "confidence": 1.0,
                            "reason": "The header of Jira's exports",
                        }
                    ],
                    "preset": "jira",
                    "mapping": {"version": 1, "kind": "requirements", "fields": {"title": {"column": "Summary"}}},
                    "parts": [
                        {
                            "sheet": None,
                            "role": "requirements",
                            "header_row": 1,
                            "preset": "jira",
                            "columns": [{"name": "Summary", "position": 1, "field": "title"}],
                        }
                    ],
                    "tables": [
                        {
                            "sheet": None,
                            "header_row": 1,
                            "count": 1,
                            "names": ["Summary"],
                            "rows": [{"row": 2, "cells": ["Doors close"]}],
                        }
                    ],
                    "types": [
                        {
                            "sheet": None,
                            "type": "Story",
                            "count": 1,
                            "example": "Doors close",
                            "proposed": "requirements",
                            "reason": "It is a usual word for requirements.",
                        }
                    ],
                    "record_mapping": {
                        "version": 2,
                        "sheets": [{"role": "requirements", "fields": {"title": {"column": "Summary"}}}],
                    },
                    "rows": [
                        {
                            "row": 2,
                            "line": 2,
                            "sheet": None,
                            "kind": "requirement",
                            "fields": {"title": "Doors close"},
                            "problems": [],
                            "warnings": [],
                        }
                    ],
                    "warnings": [],
                }
            ]
        }
    )

    format: str
    encoding: str | None
    dialect: dict[str, Any] | None
    sheets: list[dict[str, Any]]
    columns: Annotated[list[InspectedColumn], Field(description="Of the main table.")]
    preset: Annotated[str | None, Field(description="The tool whose exports look so.")]
    mapping: Annotated[
        dict[str, Any] | None,
        Field(description="The proposed one of the main table alone, as POST /imports takes it, in version 1."),
    ]
    parts: Annotated[list[InspectedPart], Field(description="All tables that are read where no mapping is sent.")]
    tables: list[InspectedTable]
    types: Annotated[
        list[InspectedType],
        Field(
            description="Of tables with rows of both kinds, which a column tells apart; of ReqIF, sphinx-needs,"
            " Doorstop, StrictDoc and OpenFastTrace their own. `types` of a mapping says what they become."
        ),
    ]
    record_mapping: Annotated[
        dict[str, Any] | None,
        Field(description="The proposed one of the whole file, as POST /imports takes it, in version 2."),
    ]
    rows: Annotated[list[InspectedRow], Field(description="The first 20 of each table.")]
    warnings: list[InspectedWarning]

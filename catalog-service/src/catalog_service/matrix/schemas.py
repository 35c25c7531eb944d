"""What the map of the matrix answers, for the OpenAPI document."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from catalog_service.items.schemas import ShortItem
from catalog_service.requirements.schemas import REQUIREMENT_EXAMPLE

_LABEL_EXAMPLE: JsonDict = {
    "index": 0,
    **{name: REQUIREMENT_EXAMPLE[name] for name in ("id", "external_id", "title", "module")},
    "links": 2,
    "suspect_links": 1,
    "pending_suggestions": 3,
}
_MODULES_EXAMPLE: JsonDict = {
    "rows": [{"module": "doors", "items": 60}, {"module": None, "items": 3}],
    "columns": [{"module": "doors", "items": 90}],
    "cells": [{"row": 0, "column": 0, "links": 95, "suspect_links": 2, "pending_suggestions": 7}],
}


class Axis(StrEnum):
    """An axis of the matrix: rows are requirements, columns are test cases."""

    ROW = "row"
    COLUMN = "column"


class AxisItem(ShortItem):
    """An item at an axis, with how many links it has in the whole record."""

    model_config = ConfigDict(json_schema_extra={"examples": [_LABEL_EXAMPLE]})

    index: int = Field(description="The row, or the column, that the item is.")
    links: int
    suspect_links: int
    pending_suggestions: int


class MatrixAxis(BaseModel):
    """A part of an axis."""

    axis: Axis
    total: int = Field(description="How many items the axis has.")
    begin: int = Field(alias="from", description="The index of the first of `items`.")
    matrix: str = Field(
        description="The ETag of the matrix that these are the labels of.", examples=['"2c26b46b68ffc68ff99b453c"']
    )
    items: list[AxisItem]


class MatrixModule(BaseModel):
    """A module and how many items are in it; null: those in none."""

    module: str | None
    items: int


class ModuleCell(BaseModel):
    """What is between the requirements of a module and the test cases of a module."""

    row: int = Field(description="An index into `rows`.")
    column: int = Field(description="An index into `columns`.")
    links: int
    suspect_links: int
    pending_suggestions: int


class ModuleMatrix(BaseModel):
    """The matrix in sums: a row for each module of requirements, a column for each of test cases."""

    model_config = ConfigDict(json_schema_extra={"examples": [_MODULES_EXAMPLE]})

    rows: list[MatrixModule]
    columns: list[MatrixModule]
    cells: list[ModuleCell] = Field(description="Cells with nothing in them are left out.")

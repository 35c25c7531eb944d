"""What GET /exports/formats tells."""

import csv
from collections.abc import Mapping
from functools import cache
from io import StringIO
from typing import Any

import orjson

from catalog_service.exchange.registry import FORMATS
from catalog_service.exchange.tabular.formulas import encode
from catalog_service.exchange.tabular.presets import load_presets
from catalog_service.exchange.tabular.table import LONGEST_CELL, MOST_COLUMNS
from catalog_service.requirements.schemas import REQUIREMENT_EXAMPLE
from catalog_service.test_cases.schemas import TEST_CASE_EXAMPLE
from chassis.files.archives import ArchiveLimits
from chassis.web.body_limits import MAX_FILE
from chassis.web.listing import Row

_MADE_BY_US = {"id", "position", "version", "created_at", "updated_at", "created_by"}
_OF_A_PROJECT = {"section", "level", "derived", "rationale"}
"""What only some projects use."""


def read_formats(max_rows: int) -> Row:
    """Return what can be imported, with presets, limits and templates; `max_rows` is a setting."""
    return {
        "read": [
            {
                "name": known.name,
                "label": known.label,
                "media_types": known.media_types,
                "suffixes": known.suffixes,
                "has_columns": known.inspect is not None,
            }
            for known in FORMATS
        ],
        "presets": [
            {"name": preset.name, "label": preset.label, "kind": preset.mapping["kind"]} for preset in load_presets()
        ],
        "limits": {
            "file_bytes": MAX_FILE,
            "unpacked_bytes": ArchiveLimits().bytes_out,
            "rows": max_rows,
            "columns": MOST_COLUMNS,
            "cell_characters": LONGEST_CELL,
        },
        "templates": _templates(),
    }


@cache
def _templates() -> Mapping[str, str]:
    requirement, test_case = (
        {name: value for name, value in example.items() if name not in _MADE_BY_US | _OF_A_PROJECT}
        for example in (REQUIREMENT_EXAMPLE, TEST_CASE_EXAMPLE)
    )
    link = {
        "requirement": requirement["external_id"],
        "test_case": test_case["external_id"],
        "link_type": "verifies",
        "notes": None,
    }
    return {"requirements": _table(requirement), "test_cases": _table(test_case), "links": _table(link)}


def _table(row: Mapping[str, Any]) -> str:
    text = StringIO(newline="")
    csv.writer(text).writerows([list(row), [_cell(value) for value in row.values()]])
    return text.getvalue()


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value and encode(value)
    return orjson.dumps(value).decode()

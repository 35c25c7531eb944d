"""What the trend answers, for the OpenAPI document."""

import datetime

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

_EXAMPLE: JsonDict = {
    "date": "2026-03-02",
    "module": "doors",
    "overall": False,
    "total_requirements": 60,
    "covered_requirements": 48,
    "suspect_links": 2,
    "coverage": 0.8,
}


class CoverageDay(BaseModel):
    """Coverage as it was at the end of a day, UTC, or, of today, as it is now."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    date: datetime.date
    module: str | None = Field(description="null: requirements in no module, or, with `overall`, all.")
    overall: bool = Field(description="Whether these are the figures of the whole record.")
    total_requirements: int
    covered_requirements: int = Field(description="With at least one link.")
    suspect_links: int
    coverage: float = Field(ge=0, le=1, description="Covered of total requirements; 0 where there are none.")


class CoverageTrend(BaseModel):
    """Days, the oldest first, and of each day the modules by name."""

    items: list[CoverageDay]

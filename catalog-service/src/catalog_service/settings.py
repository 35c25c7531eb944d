"""What catalog-service reads from its environment."""

import re
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from catalog_service.items.source_urls import RUNNING
from catalog_service.verdicts import Basis
from chassis.core.settings import PublisherSettings

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


def _schemes(value: object) -> object:
    if not isinstance(value, str):
        return value
    names = [word.strip().lower().removesuffix(":") for word in value.split(",") if word.strip()]
    for name in names:
        if not _SCHEME.fullmatch(name) or name in RUNNING:
            raise ValueError(f"{name!r} cannot be allowed; name schemes with commas between, such as doors,jazz")
    return tuple(names)


class Settings(PublisherSettings):
    """Settings of catalog-service."""

    coverage_drop_threshold: float = Field(default=0.8, ge=0, le=1, allow_inf_nan=False)
    coverage_rest_seconds: float = Field(default=10, ge=0, le=300, allow_inf_nan=False)
    """So long nothing must have changed before coverage is judged."""
    source_url_schemes: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_schemes)] = ("doors",)
    """Schemes of `source_url` beside http, https and mailto; by default that of a tool from which many records come."""
    imports_waiting: int = Field(default=50, ge=1)
    imports_waiting_per_user: int = Field(default=5, ge=1)
    """So many imports may wait or be worked on."""
    import_max_rows: int = Field(default=100_000, ge=1)
    import_memory_mib: int = Field(default=768, ge=256)
    import_cpu_seconds: int = Field(default=120, ge=1)
    """What the process that reads one file may take, where the system can limit it."""
    results_default_branch: str = Field(default="main", min_length=1, max_length=200)
    """The branch that verdicts are of where nobody names one, and that others fall back to."""
    results_stale_days: int = Field(default=14, ge=1, le=3650)
    """A pass that is older does not count as one any more."""
    results_retention_days: int = Field(default=400, ge=31, le=3650)
    """So long single executions are kept; what happened each day, and runs, are kept for ever."""
    results_max_per_file: int = Field(default=1_000_000, ge=1)

    def basis(self, now: datetime) -> Basis:
        """Return which results count where nobody says otherwise: those of the default branch."""
        branch = self.results_default_branch
        return Basis(branch, branch, now, timedelta(days=self.results_stale_days))

"""What applying takes and gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from catalog_service.exchange.planning.items import usable_key
from chassis.core.wording import counted
from chassis.messaging.events import Actor

Counts = dict[str, dict[str, int]]
"""How many rows of a kind met an action: {"requirement": {"create": 3}}."""


class RecordChanged(Exception):
    """The record is not what the plan was made for: nothing was applied. `rows` are such rows, by kind."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        super().__init__(", ".join(f"{counted(number, 'row')} of kind {kind}" for kind, number in rows.items()))
        self.rows = dict(rows)


@dataclass(frozen=True, slots=True)
class Job:
    """An import that is to be applied, of a row of `import_jobs`."""

    id: UUID
    format: str | None
    file_name: str | None
    sha256: str | None
    options: Mapping[str, Any]
    apply_options: Mapping[str, Any]
    actor: Actor
    correlation_id: str
    gateway_request_id: str | None
    planned_at: datetime | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Job":
        """Return the job of a row, read with all its columns; it is of who asked that it be applied."""
        asked = row["apply_options"] or {}
        is_named = "by" in asked
        return cls(
            row["id"],
            row["format"],
            row["file_name"],
            row["sha256"],
            row["options"] or {},
            asked,
            Actor(asked["by_id"], asked["by"]) if is_named else Actor(row["created_by_id"], row["created_by"]),
            asked.get("correlation_id") or row["correlation_id"],
            asked.get("gateway_request_id") or row["gateway_request_id"],
            row["planned_at"],
        )

    def option(self, name: str, default: Any) -> Any:
        """Return an option of the application, else of the import, else the default."""
        for options in (self.apply_options, self.options):
            if options.get(name) is not None:
                return options[name]
        return default

    @property
    def is_atomic(self) -> bool:
        """Whether all of it is applied, or nothing."""
        return bool(self.option("atomic", True))

    @property
    def refuses_changes(self) -> bool:
        """Whether rows whose target is not as planned are refused; else they are changed all the same."""
        return bool(self.option("on_change", "refuse") != "overwrite")

    @property
    def is_undone_by_a_change(self) -> bool:
        """Whether nothing is applied when one row cannot be as planned."""
        return self.is_atomic and self.refuses_changes

    @property
    def key(self) -> tuple[str, ...]:
        """The fields by which items are found that have no external_id."""
        mapping = self.options.get("mapping") or {}
        return () if self.restores else usable_key(list(mapping.get("key") or ()))

    @property
    def restores(self) -> bool:
        """Whether ids, versions, times and authors are those of the file."""
        return bool(self.option("mode", None) == "restore")

    @property
    def suggests(self) -> bool:
        """Whether suggestions are to be made for what it changes."""
        return bool(self.option("suggest", True))


@dataclass(frozen=True, slots=True)
class Applied:
    """What was applied.

    `refused`: rows by kind whose target had changed, when it was not all or nothing; `left_out`: how many rows come
    after the place at which it ended.
    """

    counts: Counts
    refused: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    def __str__(self) -> str:
        applied = sum(number for actions in self.counts.values() for number in actions.values())
        return (
            f"{applied} of its {counted(applied + self.left_out, 'change')} are in the record."
            " The others are the refused rows of its report, which can be had as CSV and imported again."
        )


class Cancelled(Exception):
    """The import was cancelled before its end. `applied`: what was by then, None where it is all or nothing."""

    def __init__(self, applied: Applied | None = None) -> None:
        super().__init__("the import was cancelled")
        self.applied = applied

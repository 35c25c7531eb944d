"""What distinguishes requirements and test cases for the code that serves both."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from chassis.core.problems import Conflict, NotFound
from chassis.core.wording import shown
from chassis.messaging.events import Payload

COLUMNS = (
    "id",
    "external_id",
    "title",
    "description",
    "type",
    "priority",
    "status",
    "module",
    "tags",
    "custom_metadata",
    "source_system",
    "source_url",
    "created_by",
    "version",
    "created_at",
    "updated_at",
)
"""The fields of every item, in the order in which they are answered."""

BRIEF = ("id", "external_id", "title", "module")
"""The fields by which a person knows an item: what stands for it wherever it is not told in full."""

MEANING = ("title", "description", "type", "priority")
"""The fields of every item whose change makes a new version."""


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item.

    `name` is also the field of its event payloads, the beginning of its links' columns (`NAME_id`) and of its
    error codes. `defaults` are what a field falls back to when a merge patch removes it; others become null.
    """

    name: str
    label: str
    table: str
    path: str
    columns: tuple[str, ...]
    json_columns: frozenset[str]
    meaning: tuple[str, ...]
    defaults: Mapping[str, Any]
    types: type[StrEnum]
    statuses: type[StrEnum]
    created: type[Payload]
    updated: type[Payload]
    deleted: type[Payload]

    def not_found(self, external_id: str | None = None) -> NotFound:
        """The problem of an id, or of an external_id, that nothing has."""
        by = "this id" if external_id is None else f"the external_id {shown(external_id)}"
        return NotFound(f"There is no {self.label} with {by}.", code=f"{self.name}_not_found")

    def external_id_taken(self) -> dict[str, Conflict]:
        """The problem of a second item with the same external_id, by constraint."""
        return {
            f"uq_{self.table}_external_id": Conflict(
                f"Another {self.label} has this external_id already.", code="external_id_taken"
            )
        }

    def external_id_taken_by(self, holder: Mapping[str, Any]) -> Conflict:
        """The same, naming the item that has it: `holder` has the fields BRIEF."""
        return Conflict(
            f"Another {self.label} has the external_id {holder['external_id']!r} already:"
            f" “{holder['title']}”, id {holder['id']}.",
            code="external_id_taken",
            members={self.name: dict(holder)},
        )

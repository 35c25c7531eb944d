"""What distinguishes requirements and test cases for the code that serves both."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import blake2b
from typing import Any

from chassis.core.problems import Conflict, Invalid, NotFound, Problem
from chassis.core.wording import shown
from chassis.messaging.payloads import Payload
from contracts.catalog import (
    RequirementCreated,
    RequirementDeleted,
    RequirementState,
    RequirementUpdated,
    TestCaseCreated,
    TestCaseDeleted,
    TestCaseState,
    TestCaseUpdated,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BRIEF = ("id", "external_id", "title", "module")
"""The fields by which a person knows an item: what stands for it where it is not answered as a whole."""


@dataclass(frozen=True, slots=True)
class ItemKind:
    """A kind of item.

    `name` is also the field of its event payloads, the beginning of its links' columns (`NAME_id`) and of its
    error codes. `columns` are its fields in the order in which they are answered, those of its events; `meaning` are
    those whose change makes a new version. `defaults` are what a field falls back to when a merge patch removes it;
    others become null.
    """

    name: str
    label: str
    table: str
    path: str
    columns: tuple[str, ...]
    json_columns: frozenset[str]
    meaning: tuple[str, ...]
    defaults: Mapping[str, Any]
    created: type[Payload]
    updated: type[Payload]
    deleted: type[Payload]

    @property
    def etag_column(self) -> str:
        """The same as `etag` as a column `etag` in SQL."""
        moment = "to_hex((extract(epoch FROM updated_at) * 1000000)::bigint)"
        return f"""'"{_shape(self.columns)}-' || version || '-' || {moment} || '"' AS etag"""

    def etag(self, row: Mapping[str, Any]) -> str:
        """Return the ETag of an item: each change of it has a moment of its own, and each set of columns a name.

        A list tells it of each row, and its rows are JSON that PostgreSQL has written: of that nothing could be made
        that is made of an item's own JSON.
        """
        moment = (row["updated_at"] - _EPOCH) // timedelta(microseconds=1)
        return f'"{_shape(self.columns)}-{row["version"]}-{moment:x}"'

    def not_found(self, external_id: str | None = None) -> NotFound:
        """The problem of an id, or of an external_id, that nothing has."""
        by = "this id" if external_id is None else f"the external_id {shown(external_id)}"
        return NotFound(f"There is no {self.label} with {by}.", code=f"{self.name}_not_found")

    def violations(self) -> dict[str, Problem]:
        """The problems of an external_id that another has, and of a level that is not there, by constraint."""
        return {
            f"uq_{self.table}_external_id": Conflict(
                f"Another {self.label} has this external_id already.", code="external_id_taken"
            ),
            f"fk_{self.table}_level": Invalid.field(
                "/level", "The project has this level no more; choose another.", "unknown_level"
            ),
        }

    def external_id_taken_by(self, holder: Mapping[str, Any]) -> Conflict:
        """The same, naming the item that has it: `holder` has the fields BRIEF."""
        return Conflict(
            f"Another {self.label} has the external_id {holder['external_id']!r} already:"
            f" “{holder['title']}”, id {holder['id']}.",
            code="external_id_taken",
            members={self.name: dict(holder)},
        )


@cache
def _shape(columns: tuple[str, ...]) -> str:
    return blake2b(",".join(columns).encode(), digest_size=2).hexdigest()


REQUIREMENT = ItemKind(
    name="requirement",
    label="requirement",
    table="requirements",
    path="/api/v1/requirements",
    columns=tuple(RequirementState.model_fields),
    json_columns=frozenset({"custom_metadata"}),
    meaning=("title", "description", "type", "priority"),
    defaults={"status": "draft", "tags": [], "section": [], "derived": False},
    created=RequirementCreated,
    updated=RequirementUpdated,
    deleted=RequirementDeleted,
)

TEST_CASE = ItemKind(
    name="test_case",
    label="test case",
    table="test_cases",
    path="/api/v1/test-cases",
    columns=tuple(TestCaseState.model_fields),
    json_columns=frozenset({"custom_metadata", "steps", "test_data"}),
    meaning=(*REQUIREMENT.meaning, "steps", "preconditions", "postconditions", "test_data"),
    defaults={"status": "draft", "tags": [], "section": [], "automation_status": "manual"},
    created=TestCaseCreated,
    updated=TestCaseUpdated,
    deleted=TestCaseDeleted,
)

KINDS = (REQUIREMENT, TEST_CASE)

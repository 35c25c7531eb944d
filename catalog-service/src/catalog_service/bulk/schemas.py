"""Changes of many as the API takes and answers them."""

from enum import StrEnum
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict, JsonValue

from chassis.web.filters import filters_alone
from chassis.web.problem_documents import ProblemDocument

T = TypeVar("T")

_ID = "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11"
_ETAG = '"6d5c9a4d1f0e3b2a7c8d9e0f"'


class BulkChange(BaseModel):
    """A change of many: of those with these `ids`, or of all that a `filter` finds, which asks for `expected_count`."""

    model_config = ConfigDict(extra="forbid")

    ids: Annotated[list[UUID] | None, Field(max_length=500)] = None
    filter: BaseModel | None = None
    expected_count: Annotated[
        int | None,
        Field(ge=0, description="How many there are; when it is another number now, none is changed."),
    ] = None
    dry_run: Annotated[bool, Field(description="Only say what would be done.")] = False
    patch: BaseModel | None = None
    delete: Annotated[bool, Field(description="Delete them, instead of a patch.")] = False
    if_match: Annotated[
        dict[UUID, Annotated[str, Field(max_length=200)]],
        Field(
            max_length=500,
            description="ETags by id: what is another by now stays as it is (412 `precondition_failed`).",
        ),
    ] = {}

    @property
    def changes(self) -> bool:
        """Whether it says what to change."""
        return self.patch is not None and bool(self.patch.model_fields_set)

    @model_validator(mode="after")
    def _either(self) -> "BulkChange":
        if (self.ids is None) == (self.filter is None):
            raise ValueError("Give either the ids or a filter.")
        if self.delete == self.changes:
            raise ValueError("Give either what to change or delete: true.")
        return self


def bulk_change_of(
    base: type[BulkChange], name: str, query: type[BaseModel], patch: type[BaseModel], example: JsonDict
) -> type[BulkChange]:
    """Return the body `name` that changes many, with the filters of the list and the patch of one."""
    examples: list[JsonValue] = [
        {"ids": [_ID], "patch": example, "if_match": {_ID: _ETAG}},
        {"filter": {"updated_since": "2026-01-31"}, "patch": example, "dry_run": True},
        {"filter": {"updated_since": "2026-01-31"}, "delete": True, "expected_count": 12},
    ]
    members = {
        "__doc__": base.__doc__,
        "__module__": __name__,
        "__annotations__": {"filter": filters_alone(query, f"{name}Filter") | None, "patch": patch | None},
        "model_config": ConfigDict(json_schema_extra={"examples": examples}),
        "filter": None,
        "patch": None,
    }
    return type(name, (base,), members)


class BulkStatus(StrEnum):
    """What became of one: `unchanged` was as it was to be already, `failed` has an `error`."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    FAILED = "failed"


class ChangeResult(BaseModel):
    """What became of one, or would in a dry run."""

    id: UUID
    status: BulkStatus
    etag: str | None = Field(description="Of what it is now; null when it is not there, or could not be changed.")
    error: ProblemDocument | None = Field(description="What changing it alone would have answered.")


class BulkAnswer(BaseModel, Generic[T]):
    """What was done, or would be."""

    matched: int = Field(description="How many there are of the ids, or match the filter: the `expected_count`.")
    changed: int = Field(description="How many were changed or deleted; 0 in a dry run.")
    unchanged: int = Field(description="How many were as they were to be.")
    failed: int
    remaining: int = Field(
        description="How many the time of one request was not enough for: to go on, send the same again."
    )
    dry_run: bool = Field(description="Whether nothing was to be changed: asked for, or without `expected_count`.")
    message: str = Field(description="The same as a sentence, and how to go on.")
    results: list[ChangeResult] = Field(
        description="One an id, in the order of the ids; of a filter at most 500, failed ones first."
    )
    items: list[T] = Field(description="The first 20 that a filter finds, as long as nothing is changed.")

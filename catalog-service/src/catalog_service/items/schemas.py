"""The fields that requirements and test cases share, as the API takes and gives them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema

from catalog_service.bulk.schemas import BulkChange
from catalog_service.items.bounds import LONGEST_URL, MOST_TAGS, JsonObject, Section, Tags, not_blank
from catalog_service.values import PriorityLevel


def blank_is_none(value: Any) -> Any:
    """Return a value, None for a text of white space alone."""
    return None if isinstance(value, str) and (not value or value.isspace()) else value


Title = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    Field(description="Surrounding white space is removed."),
]
Text = Annotated[str, AfterValidator(not_blank)]
UpTo100 = Annotated[Annotated[str, Field(max_length=100)] | None, BeforeValidator(blank_is_none)]
UpTo50 = Annotated[Annotated[str, Field(max_length=50)] | None, BeforeValidator(blank_is_none)]
OptionalText = Annotated[str | None, BeforeValidator(blank_is_none)]
_URL = Field(description="An address of http, https or mailto, or a text without a scheme.")
SourceUrl = Annotated[Annotated[str, Field(max_length=LONGEST_URL)] | None, BeforeValidator(blank_is_none), _URL]
_SECTION = "Titles of the sections that it is in, from the top; what is put into one stands at its end."
StoredUrl = Annotated[str | None, _URL]


class NewBody(BaseModel):
    """The body of a create or a replacement: null is the same as leaving the field out."""

    model_config = ConfigDict(extra="ignore", use_enum_values=True, validate_default=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        if handler.mode == "validation":
            _allow_null(handler.resolve_ref_schema(schema))
        return schema

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        if isinstance(data, dict) and None in data.values():
            return {name: value for name, value in data.items() if value is not None}
        return data


def _allow_null(schema: JsonSchemaValue) -> None:
    """Say in a model's JSON schema that null is accepted wherever a field may be left out."""
    for name, field in schema["properties"].items():
        if name not in schema.get("required", []) and {"type": "null"} not in field.get("anyOf", []):
            about = {key: field.pop(key) for key in ("title", "description", "default") if key in field}
            schema["properties"][name] = {**about, "anyOf": [field, {"type": "null"}]}


class ItemWrite(NewBody):
    """What a client sends to create or replace an item."""

    external_id: UpTo100 = None
    title: Title
    description: Text
    priority: PriorityLevel
    module: UpTo100 = None
    tags: Tags = []
    custom_metadata: JsonObject | None = None
    source_system: UpTo50 = None
    source_url: SourceUrl = None
    section: Annotated[Section, Field(description=f"{_SECTION} Replacing an item keeps it unless it is given.")] = []
    created_by: Annotated[
        UpTo100, Field(description="The caller's email unless given; replacing an item keeps it.")
    ] = None


def absent() -> Any:
    """The value of a field that was not sent and cannot be null; it is not in `model_fields_set`."""


class ItemPatch(BaseModel):
    """A JSON merge patch: what is named changes, null removes, objects are merged."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True)

    external_id: UpTo100 = None
    title: Title = Field(default_factory=absent)
    description: Text = Field(default_factory=absent)
    priority: PriorityLevel = Field(default_factory=absent)
    module: UpTo100 = None
    tags: Tags | None = None
    custom_metadata: JsonObject | None = None
    source_system: UpTo50 = None
    source_url: SourceUrl = None
    section: Annotated[Section | None, Field(description=_SECTION)] = None
    created_by: UpTo100 = None


class ItemsBulkChange(BulkChange):
    """A change of many items: of those with these `ids`, or of all that a `filter` finds (`expected_count` of them).

    `patch` and tags to add and to remove go together.
    """

    tags_add: Annotated[Tags, Field(description="Tags that each is to have, too.")] = []
    tags_remove: Annotated[
        list[Annotated[str, StringConstraints(min_length=1)]],
        Field(max_length=MOST_TAGS, description="Tags that none is to have."),
    ] = []

    @property
    def changes(self) -> bool:
        """Whether it says what to change."""
        return super().changes or bool(self.tags_add or self.tags_remove)

    @model_validator(mode="after")
    def _no_contradiction(self) -> "ItemsBulkChange":
        named = self.patch.model_fields_set if self.patch is not None else set()
        if "tags" in named and (self.tags_add or self.tags_remove):
            raise ValueError("patch.tags replaces all tags: leave tags_add and tags_remove out, or the tags.")
        if both := [tag for tag in self.tags_add if tag in self.tags_remove]:
            raise ValueError(f"The tag {both[0]!r} is both to be added and to be removed.")
        if getattr(self.patch, "external_id", None) is not None:
            raise ValueError(
                "An external_id is that of one item: PATCH it alone. Here it can only be removed, by null."
            )
        return self


class Coverage(StrEnum):
    """Whether there are links: `none`, `covered` (at least one), `suspect` (one of them is)."""

    NONE = "none"
    COVERED = "covered"
    SUSPECT = "suspect"


class ItemCoverage(BaseModel):
    """The links of an item, and what is suggested for it, in figures."""

    state: Coverage
    links: int
    suspect_links: int
    pending_suggestions: int = Field(description="Pairs with it that wait for a review.")


class ShortItem(BaseModel):
    """What is needed to recognise a requirement or a test case."""

    id: UUID
    external_id: str | None
    title: str
    module: str | None


class ItemRead(BaseModel):
    """What the service adds to an item."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    id: UUID
    position: Annotated[str, Field(description="Its place in the outline: what is less stands before it.")]
    version: Annotated[int, Field(description="Goes up by one with each change of meaning.")]
    created_at: datetime
    updated_at: datetime


class Expanded(BaseModel):
    """What is added to an item where `expand` asks for it."""

    coverage: ItemCoverage | SkipJsonSchema[None] = None
    links: Annotated[
        dict[str, Any] | SkipJsonSchema[None],
        Field(description="Of one item alone: its links as `items`, each as `GET /links` has it, and their `total`."),
    ] = None
    verdict: Annotated[
        dict[str, Any] | SkipJsonSchema[None],
        Field(
            description="Of one item alone: its `verdict` on the `branch`, `counts` of a requirement, and `test_cases`,"
            " each with its verdict and its last `runs`, the newest last."
        ),
    ] = None
    timeline: Annotated[
        dict[str, Any] | SkipJsonSchema[None],
        Field(description="Of one item alone: the first page of its timeline, as `GET .../timeline` has it."),
    ] = None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core_schema)
        required = handler.resolve_ref_schema(schema).get("required", [])
        for name in {*Expanded.model_fields, "rolled", "rolled_coverage"}.intersection(required):
            required.remove(name)
        return schema

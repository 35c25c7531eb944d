"""References that wait as the API answers them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict


class ReferenceKind(StrEnum):
    """What a reference becomes: a link, or a relation of two requirements."""

    LINK = "link"
    RELATION = "relation"


class ReferredKind(StrEnum):
    """A kind of item at an end of a reference."""

    REQUIREMENT = "requirement"
    TEST_CASE = "test_case"


class ReferenceOwner(BaseModel):
    """The item that has a reference."""

    kind: ReferredKind
    id: UUID
    external_id: str | None
    title: str


EXAMPLE: JsonDict = {
    "id": "0d5d0a55-5ac6-4b7e-8b0e-4b7f1a3e9c21",
    "owner": {
        "kind": "requirement",
        "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
        "external_id": "REQ-17",
        "title": "Doors close before departure",
    },
    "kind": "link",
    "key": "TC-204",
    "key_kind": "test_case",
    "other_key": None,
    "link_type": "covers",
    "notes": None,
    "source": "doors.xlsx, sheet RTM, row 12",
    "import_id": "5b0e8a52-7f5c-4f0e-9a43-2b7c1f0d9e11",
    "since": "2026-03-02T08:15:01.123456Z",
}


class Reference(BaseModel):
    """A reference to an item that is not there yet. A link becomes one when the item of this key comes."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    id: UUID
    owner: Annotated[ReferenceOwner | None, Field(description="Null where neither end is there.")]
    kind: ReferenceKind
    key: Annotated[str, Field(description="The external_id that it waits for.")]
    key_kind: Annotated[ReferredKind, Field(description="What it waits for.")]
    other_key: Annotated[str | None, Field(description="The external_id of its other end, where it has no owner.")]
    link_type: str | None
    notes: str | None
    source: Annotated[str | None, Field(description="Where it stands: file, sheet and row.")]
    import_id: UUID | None
    since: datetime

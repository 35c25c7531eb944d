"""The models by which records of a file are checked, beside those of the API: links, and what is restored."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from catalog_service.items.schemas import ItemWrite, NewBody, OptionalText, Text, UpTo100
from catalog_service.links.fields import Score
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.sections.positions import FORM
from catalog_service.test_cases.schemas import StoredSteps, TestCaseWrite
from catalog_service.values import LinkSource, LinkType, RelationSource, RelationType

VERSIONS = range(1, 2**31)
Version = Annotated[int, Field(strict=True, ge=VERSIONS[0], le=VERSIONS[-1])]


class _RestoredItem(ItemWrite):
    """An item that is restored: it may be from before its fields had bounds."""

    tags: list[Text] = []
    position: Annotated[str | None, Field(pattern=f"^{FORM.pattern}$")] = None
    custom_metadata: dict[str, Any] | None = None
    source_url: OptionalText = None


class RestoredRequirement(_RestoredItem, RequirementWrite):
    """A requirement of a file that is restored."""


class RestoredTestCase(_RestoredItem, TestCaseWrite):
    """A test case of a file that is restored."""

    steps: StoredSteps | None = None
    preconditions: OptionalText = None
    postconditions: OptionalText = None
    test_data: dict[str, Any] | None = None


ReferredKey = Annotated[str, Field(min_length=1, max_length=100)]


class LinkWrite(NewBody):
    """A link of a file."""

    link_type: LinkType = LinkType.COVERS
    link_source: LinkSource = LinkSource.IMPORTED
    confidence_score: Score | None = None
    notes: OptionalText = None


class _RestoredJoining(BaseModel):
    """What is restored of a link and of a relation."""

    id: UUID
    created_at: datetime
    created_by: UpTo100 = None
    confirmed_at: datetime | None = None
    confirmed_by: UpTo100 = None
    updated_at: datetime


class RestoredLink(LinkWrite, _RestoredJoining):
    """A link of a file that is restored."""

    requirement_version: Version = 1
    test_case_version: Version = 1


class RelationWrite(NewBody):
    """A relation of a file."""

    relation_type: RelationType = RelationType.REFINES
    role: UpTo100 = None
    notes: OptionalText = None
    source: RelationSource = RelationSource.IMPORTED


class RestoredRelation(RelationWrite, _RestoredJoining):
    """A relation of a file that is restored."""

    child_version: Version = 1
    parent_version: Version = 1


class RestoredRevision(BaseModel):
    """What made a version of an item that is restored."""

    item_id: UUID
    version: Version
    changed_fields: list[str]
    changed_at: datetime


class RestoredReference(BaseModel):
    """A reference that is restored."""

    id: UUID
    kind: Annotated[Literal["link", "relation"], Field(alias="reference_kind")]
    owner_kind: Literal["requirement", "test_case"]
    owner_id: UUID | None
    owner_key: ReferredKey | None
    wanted_kind: Literal["requirement", "test_case"]
    key: ReferredKey
    link_type: LinkType | RelationType | None
    role: UpTo100 = None
    confidence_score: Score | None
    notes: str | None
    source: str | None
    import_id: UUID | None
    since: datetime
    created_by: UpTo100

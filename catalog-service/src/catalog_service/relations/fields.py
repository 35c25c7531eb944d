"""What is stored of a relation."""

from datetime import datetime
from typing import TypedDict
from uuid import UUID


class StoredRelation(TypedDict):
    """A relation as it is stored: the fields that are answered, in this order."""

    id: UUID
    child_id: UUID
    parent_id: UUID
    relation_type: str
    role: str | None
    notes: str | None
    source: str
    created_at: datetime
    created_by: str | None
    confirmed_at: datetime | None
    confirmed_by: str | None
    updated_at: datetime


COLUMNS = tuple(StoredRelation.__annotations__)
VERSIONS = ("child_version", "parent_version")
"""What is told beside: for which versions of its requirements a relation was made or confirmed."""

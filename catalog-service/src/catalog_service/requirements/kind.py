"""Requirements as a kind of item."""

from catalog_service.items.kind import COLUMNS, MEANING, ItemKind
from catalog_service.requirements.schemas import RequirementStatus, RequirementType
from contracts.catalog import RequirementCreated, RequirementDeleted, RequirementUpdated

REQUIREMENT = ItemKind(
    name="requirement",
    label="requirement",
    table="requirements",
    path="/api/v1/requirements",
    columns=COLUMNS,
    json_columns=frozenset({"custom_metadata"}),
    meaning=MEANING,
    defaults={"status": "draft", "tags": []},
    types=RequirementType,
    statuses=RequirementStatus,
    created=RequirementCreated,
    updated=RequirementUpdated,
    deleted=RequirementDeleted,
)

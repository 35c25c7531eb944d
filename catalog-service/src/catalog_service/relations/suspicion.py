"""When a relation is suspect, and why: as a link is, since either requirement changed."""

from collections.abc import Mapping
from typing import Any

from catalog_service.items import suspicion
from catalog_service.items.kinds import REQUIREMENT
from catalog_service.items.suspicion import Side

SIDES = (Side("child", "child", REQUIREMENT), Side("parent", "parent", REQUIREMENT))

COLUMNS = f"{suspicion.changes('n', 'c', 'child')}, {suspicion.changes('n', 'p', 'parent')}"
"""What `reason` needs, over `requirement_relations n` and its requirements `c` and `p`."""


def reason(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return why a relation, read with COLUMNS, is suspect, as the API shows it; None when it is not."""
    return suspicion.reason(row, SIDES, "relation")

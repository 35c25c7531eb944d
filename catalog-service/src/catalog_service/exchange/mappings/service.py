"""Saved mappings: kept, changed, found by name or id."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from psycopg.types.json import Json

from catalog_service.authorship import author
from catalog_service.exchange.mappings.schemas import MappingWrite
from catalog_service.exchange.tabular.presets import preset_names
from catalog_service.exchange.tabular.record_mapping import parse_any_mapping
from chassis.core import projects
from chassis.core.problems import Conflict, Invalid, NotFound
from chassis.core.wording import listed, shown
from chassis.db.database import Connection, columns, map_constraint_violations, placeholders
from chassis.messaging.events import Actor
from chassis.web.conditions import Conditions
from chassis.web.keyset import By, Order
from chassis.web.listing import Fetched, PageRequest, Row, fetch_page

NEWEST_FIRST = Order("created_at:desc", (By("m.created_at", datetime, True), By("m.id", UUID)))
_NAMES = ("id", "name", "description", "mapping", "created_by", "created_at", "updated_at")
_COLUMNS = ", ".join(_NAMES)
_NAME_TAKEN = Conflict(
    "Another mapping has this name already, perhaps in other letters; give this one its own.", code="name_taken"
)
_TAKEN = {"uq_import_mappings_name": _NAME_TAKEN, "uq_import_mappings_lower_name": _NAME_TAKEN}


def checked(mapping: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping that was sent; raises Invalid, pointing into `mapping`."""
    parse_any_mapping(mapping, at="/mapping")
    return mapping


async def named(connection: Connection, name: str) -> dict[str, Any]:
    """Return the mapping of this name or id, else the preset of this name; raises Invalid."""
    cursor = await connection.execute(
        "SELECT mapping FROM import_mappings WHERE name = %(name)s OR id::text = lower(%(name)s)"
        " ORDER BY name = %(name)s DESC LIMIT 1",
        {"name": name},
    )
    row = await cursor.fetchone()
    if row is None and name in preset_names():
        return {"preset": name}
    if row is None:
        presets = listed(preset_names(), "and")
        saved = f"{projects.page_address('/imports')} lists them"
        detail = f"There is no saved mapping {shown(name)}; {saved}. Presets are {presets}."
        raise Invalid.field("/query/mapping", detail, "mapping_not_found")
    mapping: dict[str, Any] = row["mapping"]
    return mapping


async def create(connection: Connection, body: MappingWrite, actor: Actor) -> Row:
    """Keep a mapping and return it, by one statement; raises Invalid, and Conflict `name_taken`."""
    now = datetime.now(UTC)
    row = {
        "id": uuid4(),
        "name": body.name,
        "description": body.description,
        "mapping": checked(body.mapping),
        "created_by": author(actor),
        "created_at": now,
        "updated_at": now,
    }
    with map_constraint_violations(_TAKEN):
        await connection.execute(
            f"INSERT INTO import_mappings ({columns(row)}) VALUES ({placeholders(row)})",
            {**row, "mapping": Json(row["mapping"])},
        )
    return row


async def get(connection: Connection, mapping_id: UUID, lock: str = "") -> Row:
    """Return a mapping; raises NotFound. `lock` is FOR UPDATE, or nothing."""
    cursor = await connection.execute(f"SELECT {_COLUMNS} FROM import_mappings WHERE id = %s {lock}", (mapping_id,))
    row = await cursor.fetchone()
    if row is None:
        raise NotFound("There is no saved mapping with this id.", code="mapping_not_found")
    return row


async def replace(connection: Connection, mapping_id: UUID, body: MappingWrite, check: Callable[[Row], None]) -> Row:
    """Replace a mapping and return it; raises NotFound, Invalid, Conflict, and what `check` raises."""
    current = await get(connection, mapping_id, "FOR UPDATE")
    check(current)
    fields = {"name": body.name, "description": body.description, "mapping": checked(body.mapping)}
    if all(current[name] == value for name, value in fields.items()):
        return current
    row = {**current, **fields, "updated_at": datetime.now(UTC)}
    with map_constraint_violations(_TAKEN):
        await connection.execute(
            "UPDATE import_mappings SET name = %(name)s, description = %(description)s, mapping = %(mapping)s,"
            " updated_at = %(updated_at)s WHERE id = %(id)s",
            {**row, "mapping": Json(row["mapping"])},
        )
    return row


async def delete(connection: Connection, mapping_id: UUID, check: Callable[[Row], None]) -> None:
    """Delete a mapping; raises NotFound, and what `check` raises."""
    check(await get(connection, mapping_id, "FOR UPDATE"))
    await connection.execute("DELETE FROM import_mappings WHERE id = %s", (mapping_id,))


async def page(connection: Connection, conditions: Conditions, wanted: PageRequest) -> Fetched:
    """Return a page of the mappings under conditions on `import_mappings m`."""
    names = ", ".join(f"m.{name}" for name in _NAMES)
    return await fetch_page(connection, names, "import_mappings m", conditions, wanted)

"""Imports that are planned: jobs and rows as planning leaves them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from catalog_service.exchange.applying import Applied, Job, apply
from catalog_service.items.kinds import KINDS
from chassis.core import projects

IMPORTER = "importer@example.test"


async def go_on(_: float) -> bool:
    """Take note of no progress, and cancel nothing."""
    return True


@dataclass
class Plan:
    """An import that is planned, row by row."""

    catalog: Any
    options: dict[str, Any] = field(default_factory=dict)
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def create(self, kind: str, **fields: Any) -> str:
        """Plan a new item or link; return the id that it will have."""
        target = fields.pop("target", None) or str(uuid.uuid4())
        creator = {} if kind not in _ITEMS or self.options.get("mode") == "restore" else {"created_by": IMPORTER}
        self._add(kind, "create", target, fields=_WHOLE.get(kind, {}) | creator | fields)
        return target

    def update(self, kind: str, now: dict[str, Any], **after: Any) -> None:
        """Plan changes of fields of something that is as `now`."""
        changes = {name: {"before": now[name], "after": value} for name, value in after.items()}
        self._add(kind, "update", now["id"], version=now.get("version"), changes=changes)

    def delete(self, kind: str, now: dict[str, Any]) -> None:
        self._add(kind, "delete", now["id"], version=now.get("version"))

    def unchanged(self, kind: str, now: dict[str, Any]) -> None:
        self._add(kind, "unchanged", now["id"], version=now.get("version"))

    def link(self, requirement_id: str, test_case_id: str, **fields: Any) -> str:
        """Plan a link; return the id that it will have."""
        return self.create("link", requirement_id=requirement_id, test_case_id=test_case_id, **fields)

    def _add(self, kind: str, action: str, target: str, *, version: int | None = None, **more: dict[str, Any]) -> None:
        self.rows.append(
            {
                "position": len(self.rows),
                "kind": kind,
                "action": action,
                "target_id": target,
                "target_version": version,
                **more,
            }
        )

    async def store(self) -> Job:
        """Store the plan; return its job."""
        now = datetime.now(UTC)
        async with self.catalog.database.transaction() as connection:
            await connection.execute(
                "INSERT INTO import_jobs (id, status, format, kind, file_name, sha256, options, created_by,"
                " created_by_id, correlation_id, gateway_request_id, created_at, planned_at)"
                " VALUES (%s, 'applying', 'csv', 'all', 'items.csv', 'abc', %s, %s, 9, 'request-9', 'gateway-9',"
                " %s, %s)",
                (self.id, orjson.dumps(self.options).decode(), IMPORTER, now, now),
            )
            await self._store_rows(connection, self.rows)
        return await self.job()

    async def _store_rows(self, connection: Any, rows: Sequence[dict[str, Any]]) -> None:
        await connection.execute(
            "INSERT INTO import_rows (job_id, position, kind, action, target_id, target_version, fields, changes)"
            " SELECT %s, position, kind, action, target_id, target_version, fields, changes"
            " FROM json_populate_recordset(NULL::import_rows, %s)",
            (self.id, orjson.dumps(rows).decode()),
        )

    async def job(self) -> Job:
        return Job.of(await self.row())

    async def row(self) -> dict[str, Any]:
        (row,) = await self.catalog.rows("SELECT * FROM import_jobs WHERE id = %s", self.id)
        return dict(row)

    async def apply(self) -> Applied:
        """Store the plan and apply it, as a worker does: within the project of the job."""
        with projects.within(projects.MAIN):
            return await apply(self.catalog.database, await self.store(), go_on)

    async def events(self) -> list[dict[str, Any]]:
        """Return the events of the import, in order."""
        return [event for event in await self.catalog.events() if event.get("batchid") == str(self.id)]


_ITEM = {
    "title": "Doors close",
    "description": "All doors shall close before departure.",
    "type": "functional",
    "priority": "medium",
    "status": "draft",
    "tags": [],
    "section": [],
}
_ITEMS = {kind.name: kind for kind in KINDS}
_GIVEN = {"id", "position", "version", "created_at", "updated_at"}
_WHOLE: dict[str, dict[str, Any]] = {
    **{
        name: {column: None for column in kind.columns if column not in _GIVEN}
        | _ITEM
        | ({"automation_status": "manual"} if name == "test_case" else {"derived": False})
        for name, kind in _ITEMS.items()
    },
    "link": {"link_type": "covers", "link_source": "imported", "confidence_score": 1.0, "notes": None},
}


@pytest.fixture
def plan(catalog: Any) -> Plan:
    return Plan(catalog)

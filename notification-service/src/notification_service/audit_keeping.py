"""Keeps the audit log: seals its entries, signs the heads of its chains, streams it, and removes what is too old."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import orjson

from chassis.core.signals import wait_with_timeout
from chassis.db import sealing
from chassis.db.database import Database
from chassis.db.rows import fetch_value
from chassis.db.sealing import Entry, Signer
from notification_service.settings import Settings

_PAUSE = 0.25
"""Seconds that the first new entry waits for company: a batch costs little more than one entry."""
_POLL = 1.0
_AT_ONCE = 1000
_NAMES = (
    *("id", "project", "occurred_at", "actor", "actor_id", "action", "resource_type", "resource_id", "resource_title"),
    *("summary", "before", "after", "details", "request_id", "gateway_request_id", "resource_ids", "batch_id"),
)
_JSON = ("before", "after", "details")


class AuditKeeping:
    """The loops that keep the audit log. One worker does them at a time."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._stream = settings.audit_stream
        self._retention = settings.audit_retention_days
        assert settings.internal_signing_key is not None, "a worker that asks others has one"
        self._signer = Signer(settings.internal_signing_key.get_secret_value())
        self._committed = database.commits.listener()

    async def seal(self) -> None:
        """Seal what is written soon after that, for ever."""
        while True:
            self._committed.clear()
            while await sealing.seal_some(self._database, write_lines if self._stream == "stdout" else None):
                pass
            if await wait_with_timeout(self._committed, _POLL):
                await asyncio.sleep(_PAUSE)

    async def sign(self) -> None:
        """Sign the heads of today, once."""
        await sealing.sign_heads(self._database, self._signer, datetime.now(UTC).date())

    async def remove_old(self) -> None:
        """Remove entries whose time is over; without a setting none is."""
        if self._retention is not None:
            moment = datetime.now(UTC) - timedelta(days=self._retention)
            await remove(self._database, "remove_audit_entries_before", moment)


async def remove(database: Database, function: str, which: datetime | str) -> int:
    """Call a function that removes audit entries until it finds none any more; return how many there were."""
    removed = 0
    while True:
        async with database.across() as connection:
            some: int = await fetch_value(connection, f"SELECT {function}(%s, {_AT_ONCE})", (which,))
        if not some:
            return removed
        removed += some


def write_lines(entries: Sequence[Entry]) -> None:
    """Write entries to standard output, a JSON object a line."""
    for entry in entries:
        line = dict(zip(_NAMES, orjson.loads(entry.content), strict=True))
        line["occurred_at"] = datetime.fromtimestamp(line["occurred_at"] / 1_000_000, UTC)
        for name in _JSON:
            line[name] = None if line[name] is None else orjson.Fragment(line[name])
        sys.stdout.buffer.write(orjson.dumps({"log": "audit", **line}, option=orjson.OPT_UTC_Z) + b"\n")
    sys.stdout.buffer.flush()

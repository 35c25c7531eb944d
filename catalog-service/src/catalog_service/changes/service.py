"""The changes of the record, in order, for clients that keep a copy."""

from dataclasses import dataclass
from typing import Any

import orjson

from catalog_service.changes import repository
from catalog_service.items.kinds import KINDS
from catalog_service.links.fields import COLUMNS as LINK_COLUMNS
from catalog_service.relations.fields import COLUMNS as RELATION_COLUMNS
from chassis.core.problems import Invalid
from chassis.core.turns import drain, take_turns
from chassis.db.database import Database
from chassis.web.listing import Row

_FIELDS = {**{kind.name: kind.columns for kind in KINDS}, "link": LINK_COLUMNS, "relation": RELATION_COLUMNS}


@dataclass(frozen=True, slots=True)
class Changes:
    """A page of changes; `next_after` is where to go on, `head` the newest position that there is."""

    items: list[dict[str, Any]]
    next_after: int
    head: int

    @property
    def are_all(self) -> bool:
        """Whether there was nothing more when they were read."""
        return self.next_after >= self.head


async def read(database: Database, after: int, limit: int) -> Changes:
    """Return what changed after a position, in order; raises Invalid for one to come."""
    head = await repository.head(database)
    if after > head:
        raise Invalid.field(
            "/query/after",
            f"There is no position {after} yet, the newest is {head}: a copy that has seen it was made of another"
            " record, or before this one was restored. Make the copy anew and begin with after=0.",
            "unknown_position",
        )
    async with database.connection() as connection:
        rows = await repository.find(connection, after, limit)
    seen = rows[-1]["feed_seq"] if rows else after
    next_after = seen if len(rows) == limit else max(seen, head)
    return Changes([_change(row) async for row in take_turns(drain(rows))], next_after, head)


def _change(row: Row) -> dict[str, Any]:
    _, kind, action = row["wire_name"].split(".")
    event = orjson.loads(row["envelope"])
    state = event["data"][kind]
    return {
        "position": row["feed_seq"],
        "type": kind,
        "action": action,
        "id": state["id"],
        "time": event["time"],
        "actor": event["actor"],
        "state": None if action == "deleted" else {name: state.get(name) for name in _FIELDS[kind]},
    }

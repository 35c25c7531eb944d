"""The feed of a service, as its outbox has it."""

import json
from dataclasses import dataclass
from typing import Any

from acceptance.faults.databases import System, query
from acceptance.faults.draining import Heads


@dataclass(frozen=True, slots=True)
class Event:
    """What a service told."""

    place: int | None
    id: str
    type: str
    time: str
    actor: str
    actor_id: int | None
    correlation_id: str
    data: dict[str, Any]
    batch_id: str | None = None

    def is_within(self, heads: Heads) -> bool:
        """Whether its feed went as far when everything had drained; later ones are still on their way."""
        return self.place is not None and self.place <= heads[self.type.partition(".")[0]]


def feed(system: System, source: str) -> list[Event]:
    """Everything that a service told, in the order of its feed."""
    rows = query(system, source, "SELECT feed_seq, envelope FROM outbox ORDER BY feed_seq")
    return [_event(row["feed_seq"], json.loads(row["envelope"])) for row in rows]


def _event(place: int | None, envelope: dict[str, Any]) -> Event:
    return Event(
        place,
        envelope["id"],
        envelope["type"],
        envelope["time"],
        envelope["actor"],
        envelope.get("actorid"),
        envelope["correlationid"],
        envelope["data"],
        envelope.get("batchid"),
    )

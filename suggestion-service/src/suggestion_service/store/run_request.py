"""What somebody asked a run for: known to the run and to each of its shards."""

from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import UUID

from chassis.messaging.events import Actor
from suggestion_service.engine import Algorithm

COLUMNS = "r.id, r.algorithm, r.threshold, r.rescore, r.pending_only, r.actor_id, r.created_by, r.correlation_id"


class Counts(TypedDict):
    """What runs count, and their shards."""

    pairs_analyzed: int
    suggestions_created: int
    suggestions_updated: int
    suggestions_withdrawn: int
    suggestions_skipped: int


COUNTS = tuple(Counts.__annotations__)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run over everything by an algorithm, at a threshold; `rescore`: pending suggestions are scored anew, too.

    With `pending_only` they are, and nothing is suggested: the scale has changed, and nobody asked for suggestions.
    """

    id: UUID
    algorithm: Algorithm
    threshold: float
    rescore: bool
    actor: Actor
    correlation_id: str
    pending_only: bool = False


def run_request(row: dict[str, Any]) -> RunRequest:
    """Return the request of a row of `COLUMNS`."""
    actor = Actor(row["actor_id"], row["created_by"])
    return RunRequest(
        *(row["id"], row["algorithm"], row["threshold"], row["rescore"], actor, row["correlation_id"]),
        pending_only=row["pending_only"],
    )

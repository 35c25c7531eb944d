"""How much of an agent may wait for a person: less once people have rejected nearly all of it."""

from chassis.core.problems import TooManyRequests
from chassis.core.wording import counted
from chassis.db.database import Connection
from suggestion_service.proposals import repository
from suggestion_service.proposals.repository import TrackRecord

_MOST_PENDING = 200
_MOST_PENDING_OF_DOUBTFUL = 20
_LOOKED_AT = 50
_ENOUGH = 10
_DOUBTFUL = 0.2
_HOUR = 3600


async def check(connection: Connection, agent_id: str) -> None:
    """Raise TooManyRequests where no more of an agent may wait; it must be locked."""
    record = await repository.track_record(connection, agent_id, _LOOKED_AT)
    most = _most(record)
    if record.pending < most:
        return
    why = "" if most == _MOST_PENDING else f", since people accepted {record.accepted} of its last {record.reviewed}"
    raise TooManyRequests(
        f"{counted(record.pending, 'proposal')} of this agent wait for a person, and {most} may{why}. Withdraw some,"
        " or wait until they are reviewed.",
        retry_after=_HOUR,
        code="too_many_pending",
    )


async def most_pending(connection: Connection, agent_id: str) -> int:
    """Return how many proposals of an agent may wait."""
    return _most(await repository.track_record(connection, agent_id, _LOOKED_AT))


def _most(record: TrackRecord) -> int:
    is_doubtful = record.reviewed >= _ENOUGH and record.accepted < _DOUBTFUL * record.reviewed
    return _MOST_PENDING_OF_DOUBTFUL if is_doubtful else _MOST_PENDING

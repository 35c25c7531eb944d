"""Folds requests that are alike: the first is told of soon, those that follow together, by their count."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from chassis.core.addresses import network_of

WINDOW = 15 * 60
"""Seconds in which what follows the first request is told together."""
VARIOUS = "various"
"""Stands for the addresses of all who come while as many kinds are kept apart as may be."""

_STRANGERS, _KNOWN = 200, 5_000
"""Kinds that are kept apart: of people who are not known, and of users."""
_SHOWN = 10
"""Requests that are written down, of those that are told together."""


class Kind(NamedTuple):
    """What requests have in common that are told together: what became of them, and whose they are.

    `topic` is `refusals`, with a status and a reason, or `readings`, with what was read; of an export its request is
    part of the kind.
    """

    topic: str
    status: int | None
    reason: str | None
    what: str | None
    export: str | None
    user_id: int | None
    project: str | None
    session_id: str | None
    api_token_id: int | None


class Request(NamedTuple):
    """A request that is noticed; `at` is in seconds since the epoch."""

    at: float
    written: str
    address: str
    agent: str
    request_id: str
    gateway_request_id: str


@dataclass(slots=True)
class _Folded:
    told_at: float = float("-inf")
    count: int = 0
    since: float = 0.0
    last: Request | None = None
    written: dict[str, None] = field(default_factory=dict)

    def add(self, request: Request) -> None:
        if not self.count:
            self.since = request.at
        self.count += 1
        self.last = request
        if len(self.written) < _SHOWN:
            self.written[request.written] = None


Notice = dict[str, Any]
"""Requests of a kind, as auth-service is told of them."""


class Folding:
    """What was noticed and not told yet; of so many kinds at most that nobody can fill memory or log with theirs."""

    def __init__(self) -> None:
        self._of_strangers: dict[tuple[Kind, str], _Folded] = {}
        self._of_known: dict[tuple[Kind, str], _Folded] = {}

    def add(self, kind: Kind, request: Request) -> None:
        """Add a request; beyond the bound neither its address nor its session are told."""
        kept, most = (self._of_strangers, _STRANGERS) if kind.user_id is None else (self._of_known, _KNOWN)
        key = kind, network_of(request.address)
        if key not in kept and len(kept) >= most:
            key = kind._replace(export=None, session_id=None, api_token_id=None), VARIOUS
            request = request._replace(address=VARIOUS, agent="")
        kept.setdefault(key, _Folded()).add(request)

    def take(self, now: float, *, whole: bool = False) -> Iterator[tuple[str, Notice]]:
        """Yield what is due `now`, or the `whole` of it, each by its topic; it is not given again."""
        for kept in (self._of_strangers, self._of_known):
            for key, folded in list(kept.items()):
                if not whole and now < folded.told_at + WINDOW:
                    continue
                if folded.last is None:
                    del kept[key]
                    continue
                kept[key] = _Folded(told_at=now)
                yield key[0].topic, _notice(key[0], folded, folded.last)


def _notice(kind: Kind, folded: _Folded, last: Request) -> Notice:
    return {
        "id": uuid.uuid4(),
        "at": datetime.fromtimestamp(last.at, UTC),
        "status": kind.status,
        "reason": kind.reason,
        "what": kind.what,
        "user_id": kind.user_id,
        "project": kind.project,
        "address": last.address,
        "agent": last.agent,
        "session_id": kind.session_id,
        "api_token_id": kind.api_token_id,
        "requests": list(folded.written),
        "count": folded.count,
        "since": datetime.fromtimestamp(folded.since, UTC),
        "request_id": last.request_id,
        "gateway_request_id": last.gateway_request_id,
    }

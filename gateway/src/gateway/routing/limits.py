"""How much one party may ask for: a token bucket a user, an API token and, where nobody is known, an address.

Each gateway counts for itself. What is left is told by the headers of draft-ietf-httpapi-ratelimit-headers, once it is
little.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from time import monotonic

from chassis.core.addresses import network_of
from chassis.core.identity import Identity
from chassis.core.problems import TooManyRequests
from contracts.api_tokens import PREFIX

_MOST = 50_000
"""Parties of whom a bucket is kept; those that are full need none."""
_LITTLE = 0.1

Told = list[tuple[bytes, bytes]]
"""Headers for the answer; none as long as plenty is left."""

_network_of = lru_cache(1024)(network_of)


class Limit:
    """A bucket for each party: `per_minute` requests at once, and as many again within a minute; 0: any number."""

    def __init__(self, name: str, per_minute: int, hint: str) -> None:
        self._name = name
        self._size = float(per_minute)
        self._rate = per_minute / 60
        self._hint = hint
        self._buckets: dict[str | int, tuple[float, float]] = {}
        """What is left for each party, and as of when."""
        self._policy = (b"ratelimit-policy", f'"{name}";q={per_minute};w=60'.encode())

    def take(self, party: str | int) -> Told:
        """Take one request of a party; raise TooManyRequests when nothing is left."""
        if not self._size:
            return []
        now = monotonic()
        left, at = self._buckets.get(party, (self._size, now))
        left = min(self._size, left + (now - at) * self._rate) - 1
        if left < 0:
            self._buckets[party] = (left + 1, now)
            wait = max(1, ceil(-left / self._rate))
            raise TooManyRequests(
                f"These are more than {self._size:g} requests a minute {self._hint}; try again in {wait} s.",
                retry_after=wait,
                code="rate_limited",
                headers=dict(_decoded(self._told(0, wait))),
            )
        if party not in self._buckets and len(self._buckets) >= _MOST:
            self._forget_full(now)
        self._buckets[party] = (left, now)
        return self._told(int(left), ceil(1 / self._rate)) if left < self._size * _LITTLE else []

    def _told(self, left: int, seconds: int) -> Told:
        return [self._policy, (b"ratelimit", f'"{self._name}";r={left};t={seconds}'.encode())]

    def _forget_full(self, now: float) -> None:
        self._buckets = {
            party: (left, at)
            for party, (left, at) in self._buckets.items()
            if left + (now - at) * self._rate < self._size
        }
        if len(self._buckets) >= _MOST:
            self._buckets.clear()


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a gateway."""

    user: Limit
    token: Limit
    address: Limit

    @classmethod
    def of(cls, *, user: int, token: int, address: int) -> "Limits":
        """Return the limits of so many requests a minute each."""
        return cls(
            Limit("user", user, "of one user"),
            Limit("token", token, "with one API token"),
            Limit("address", address, "from one address by people who have not logged in"),
        )

    def take_known(self, identity: Identity) -> Told:
        """Take one request of somebody whose token was checked; raise TooManyRequests."""
        exhausted = self.token.take(identity.token_id) if identity.token_id.startswith(PREFIX) else []
        return exhausted + self.user.take(identity.id or 0)

    def take_unknown(self, address: str) -> Told:
        """Take one request of whoever calls from an address; raise TooManyRequests."""
        return self.address.take(_network_of(address))


def _decoded(headers: Told) -> list[tuple[str, str]]:
    return [(name.decode(), value.decode()) for name, value in headers]

"""What the gateway costs as a process of its own: requests a second with and without it, and its CPU a request."""

import asyncio
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import httpx
import psutil
import uvloop

from benchmarks.load import Measured, in_turn, request, run
from chassis.core.identity import Identity
from chassis.core.internal_tokens import InternalSigner
from contracts.routes import CATALOG, NOTIFICATION, Service

_CONNECTIONS = 32
_SECONDS = 2.0
_ROUNDS = 3
_RATIO_GOAL = 0.7
_CPU_GOAL = 150
_UNREAD_COUNT = "/api/v1/notifications/unread-count"
_LIST = "/api/v1/requirements"


@dataclass(frozen=True)
class Deployed:
    """Where everything listens on loopback, the processes of the gateway, and one user: outside and inside."""

    gateway_port: int
    gateway_pids: tuple[int, ...]
    catalog_port: int
    notification_port: int
    user_token: str
    identity: Identity
    signer: InternalSigner


@dataclass(frozen=True)
class _Round:
    direct: Measured
    through: Measured
    cpu_seconds: float

    @property
    def ratio(self) -> float:
        return self.through.per_second / self.direct.per_second

    @property
    def cpu(self) -> float:
        """Microseconds of the gateway a request."""
        return self.cpu_seconds / len(self.through.seconds) * 1e6


def main(deployed: Deployed) -> None:
    """Print the table; the catalog needs at least 20 requirements."""
    reads = [f"{_LIST}/{item_id}" for item_id in _requirements(deployed)]
    lists = [f"{_LIST}?limit=20&skip={skip}" for skip in range(0, max(1, len(reads) - 19), 20)]
    print(f"\nThe gateway before services in other processes, {_CONNECTIONS} connections, median of {_ROUNDS} rounds")
    print(f"{'':14}{'direct/s':>10}{'through/s':>11}{'ratio':>8}{'goal':>7}{'CPU us':>9}{'goal':>7}{'errors':>8}")
    for name, service, port, paths in (
        ("unread-count", NOTIFICATION, deployed.notification_port, [_UNREAD_COUNT]),
        ("list of 20", CATALOG, deployed.catalog_port, lists),
        ("read", CATALOG, deployed.catalog_port, reads),
    ):
        rounds = [uvloop.run(_round(deployed, service, port, paths)) for _ in range(_ROUNDS)]
        print(
            f"{name:14}{statistics.median(one.direct.per_second for one in rounds):10,.0f}"
            f"{statistics.median(one.through.per_second for one in rounds):11,.0f}"
            f"{statistics.median(one.ratio for one in rounds):8.0%}{_RATIO_GOAL:7.0%}"
            f"{statistics.median(one.cpu for one in rounds):9.0f}{_CPU_GOAL:7}"
            f"{sum(one.direct.errors + one.through.errors for one in rounds):8}"
        )


def _requirements(deployed: Deployed) -> list[int]:
    response = httpx.get(
        f"http://127.0.0.1:{deployed.gateway_port}{_LIST}",
        params={"limit": 500},
        headers={"Authorization": f"Bearer {deployed.user_token}"},
    )
    return [item["id"] for item in response.raise_for_status().json()["items"]]


async def _round(deployed: Deployed, service: Service, service_port: int, paths: list[str]) -> _Round:
    """Measure one after the other, since the machine's speed drifts: the service itself, then by the gateway."""
    inside = deployed.signer.sign(deployed.identity, service.name)
    direct = await run(
        service_port,
        _reads(paths, inside),
        connections=_CONNECTIONS,
        seconds=_SECONDS / 2,
    )
    await asyncio.sleep(0.2)
    before = _cpu_seconds(deployed.gateway_pids)
    make = _reads(paths, deployed.user_token)
    through = await run(deployed.gateway_port, make, connections=_CONNECTIONS, seconds=_SECONDS)
    return _Round(direct, through, _cpu_seconds(deployed.gateway_pids) - before)


def _reads(paths: list[str], token: str) -> Callable[[], bytes]:
    return in_turn([request("GET", path, token) for path in paths])


def _cpu_seconds(pids: tuple[int, ...]) -> float:
    seconds = 0.0
    for pid in pids:
        times = psutil.Process(pid).cpu_times()
        seconds += times.user + times.system
    return seconds

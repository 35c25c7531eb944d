"""Gauges that are read when metrics are scraped: seldom, however often that is, and without failing the others."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from chassis.core.problems import Unavailable
from chassis.db.database import AWAY

_log = logging.getLogger(__name__)
_PATIENCE = 4.0
"""Seconds for all collectors together: Prometheus waits for ten."""
_AGAIN_AFTER = 5.0
"""Seconds until what could not be read is tried again."""

Read = Callable[[], Awaitable[Iterable[Metric]]]


@dataclass
class GaugeCollector:
    """Gauges that are read together, and are as good as new for some seconds."""

    read: Read
    fresh_for: float = 5.0
    _until: float = field(default=float("-inf"), init=False)
    _known: list[Metric] = field(default_factory=list, init=False)

    async def get(self, until: float) -> list[Metric]:
        """Return the gauges; none when they cannot be read before `until`, a time of the event loop."""
        now = asyncio.get_running_loop().time()
        if now >= self._until:
            read = await self._read(until)
            self._known = read or []
            self._until = now + (self.fresh_for if read is not None else min(self.fresh_for, _AGAIN_AFTER))
        return self._known

    async def _read(self, until: float) -> list[Metric] | None:
        try:
            async with asyncio.timeout_at(until):
                return list(await self.read())
        except (*AWAY, Unavailable, TimeoutError) as away:
            _log.warning("Some metrics cannot be read now: %s", away or "it takes too long")
        except Exception:  # noqa: BLE001 - what is wrong with one must not hide the others
            _log.exception("Some metrics cannot be read")
        return None


class GaugeCollectors:
    """All collectors of a program; those that come later are read, too."""

    def __init__(self, collectors: Iterable[GaugeCollector] = ()) -> None:
        self._collectors = list(collectors)
        self._turn = asyncio.Lock()

    def add(self, collectors: Iterable[GaugeCollector]) -> None:
        """Read these as well."""
        self._collectors.extend(collectors)

    async def get(self) -> list[Metric]:
        """Return all gauges; those of the same name from several collectors are one metric."""
        async with self._turn:
            until = asyncio.get_running_loop().time() + _PATIENCE
            read = [metric for collector in self._collectors for metric in await collector.get(until)]
        together: dict[str, Metric] = {}
        for metric in read:
            known = together.setdefault(metric.name, gauge(metric.name, metric.documentation, (), ()))
            known.samples.extend(metric.samples)
        return list(together.values())


def gauge(
    name: str, meaning: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]
) -> GaugeMetricFamily:
    """Return a gauge with its values, each with the values of its labels."""
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for of, value in values:
        family.add_metric(of, value)
    return family

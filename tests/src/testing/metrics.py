"""Metrics as a test reads them: each series as it stands in the text, `name{label="value"}`, with its value."""

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from chassis.observability.collectors import GaugeCollector, GaugeCollectors
from chassis.server.exposition import Everything

Series = dict[str, float]


def read(text: str) -> Series:
    """Return what a text says that Prometheus would read."""
    return {
        _name(sample.name, sample.labels): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def measured(*collectors: GaugeCollector) -> Series:
    """Return what this process has counted so far, and what these collectors say now."""
    return read(generate_latest(Everything(await GaugeCollectors(collectors).get())).decode())


def rises(before: Series, after: Series) -> Series:
    """Return by how much each series has risen that has."""
    return {name: value - before.get(name, 0) for name, value in after.items() if value > before.get(name, 0)}


def _name(name: str, labels: dict[str, str]) -> str:
    return name + ("{" + ",".join(f'{label}="{value}"' for label, value in labels.items()) + "}" if labels else "")

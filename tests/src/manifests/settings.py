"""Rules for settings: programs are told all that they need, and nothing else."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Annotated, Any

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from contracts.routes import SERVICES
from manifests.environment import READ_BESIDES, ours, program, programs_told
from manifests.objects import Manifests, texts


def programs(manifests: Manifests) -> Iterator[str]:
    """Containers of ours run programs that there are; every service is migrated, served and worked for."""
    run: set[str] = set()
    for workload, container in ours(manifests):
        module = program(container)
        if module is None or find_spec(module) is None:
            yield f"{workload}: {container['name']} runs no program of ours."
        else:
            migrated = container.get("args") or container.get("command") or []
            run.add(f"{module} {migrated[-1]}" if module == "chassis.migrations" else module)
    needed = {"gateway.app"} | {
        each
        for name in (service.package for service in SERVICES)
        for each in (f"{name}.app", f"{name}.worker", f"chassis.migrations {name}")
    }
    for module in sorted(needed - run):
        yield f"Nothing runs {module}."


def required_are_set(manifests: Manifests) -> Iterator[str]:
    """Every setting that a program requires is set."""
    for workload, container, told, fields in programs_told(manifests):
        required = {name for name, field in fields.items() if field.is_required()}
        for name in sorted(required - told.names):
            yield f"{workload}: {container['name']} is not told {name.upper()}."
        for missing in told.missing:
            yield f"{workload}: {container['name']} is told by what is not there: {missing}."


def set_are_read(manifests: Manifests) -> Iterator[str]:
    """Nothing is set that the program does not read."""
    for workload, container, told, fields in programs_told(manifests):
        for name in sorted(told.names - set(fields) - READ_BESIDES):
            yield f"{workload}: {container['name']} is told {name.upper()}, which it does not read."


def values_are_valid(manifests: Manifests) -> Iterator[str]:
    """What is set by value is what the program takes."""
    for workload, container, told, fields in programs_told(manifests):
        for name, value in told.values.items():
            reason = _refusal(fields[name.lower()], value) if name.lower() in fields else None
            if reason is not None:
                yield f"{workload}: {container['name']} is told {name}={value}, which it refuses: {reason}."


def ports(manifests: Manifests) -> Iterator[str]:
    """Programs listen where their containers say: `http` and, for metrics, `metrics`."""
    for workload, container, told, _ in programs_told(manifests):
        if workload.runs_to_an_end:
            continue
        declared = {port.get("name"): port["containerPort"] for port in container.get("ports") or []}
        listened = {"http": told.values.get("HTTP_PORT", "8000"), "metrics": told.values.get("METRICS_PORT")}
        for name, port in listened.items():
            if str(declared.get(name)) != str(port):
                yield f"{workload}: the port {name} is {declared.get(name)}, and the program listens on {port}."


def each_config_map_is_used(manifests: Manifests) -> Iterator[str]:
    """Each ConfigMap is read by a workload or a cluster; Grafana finds those with dashboards by itself."""
    readers = [*(workload.pod for workload in manifests.workloads), *manifests.of("Cluster")]
    used = [text for reader in readers for place, text in texts(reader) if "onfigMap" in place]
    for each in manifests.of("ConfigMap"):
        if each["metadata"]["name"] not in used and "grafana_dashboard" not in each["metadata"].get("labels", {}):
            yield f"ConfigMap {each['metadata']['name']}: nothing reads it."


def nothing_is_left_open(manifests: Manifests) -> Iterator[str]:
    """Nothing waits to be chosen: no newest version, no password that everybody knows."""
    for each in manifests.objects:
        for place, text in texts(each):
            for word in ("latest", "changeme", "change-me", "traceline-admin"):
                if word in text.lower():
                    yield f"{each['kind']} {each['metadata']['name']}: {place} says {word}."


def _refusal(field: FieldInfo, value: str) -> str | None:
    form: Any = Annotated[field.annotation, field]
    try:
        TypeAdapter(form).validate_python(value)
    except ValidationError as error:
        return error.errors()[0]["msg"]
    return None

"""Rules for where calls go: Services, routes, monitors and addresses name what is there, and the way is open."""

import re
from collections.abc import Iterator

from manifests.environment import environment
from manifests.network import POLICY, open_between, open_outside
from manifests.objects import Manifests, Object, Workload, selects

PORTS_BY_SCHEME = {"http": 80, "https": 443, "postgresql": 5432, "amqp": 5672, "amqps": 5671}
_URL = re.compile(r"(?P<scheme>[a-z]+)://(?:[^@/]*@)?(?P<host>[a-z0-9.-]+)(?::(?P<port>\d+))?(?:/|$)")


def services(manifests: Manifests) -> Iterator[str]:
    """A Service selects the pods of one workload, and ports that its containers have."""
    for service in manifests.of("Service"):
        name = f"Service {service['metadata']['name']}"
        chosen = manifests.selected({"matchLabels": service["spec"].get("selector")})
        if len(chosen) != 1:
            yield f"{name}: it selects {len(chosen)} workloads."
        for pods in chosen:
            for port in service["spec"]["ports"]:
                target = port.get("targetPort", port["port"])
                if target not in pods.ports and target not in pods.ports.values():
                    yield f"{name}: {pods} has no port {target}."


def monitored(manifests: Manifests) -> Iterator[str]:
    """Where pods are monitored, all of ours that run on are: by a port that they have and that policies open."""
    monitors = manifests.of("PodMonitor")
    for monitor in monitors:
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            chosen = manifests.selected(monitor["spec"]["selector"])
            asked = [pods for pods in chosen if endpoint["port"] in pods.ports]
            if not asked:
                yield f"PodMonitor {monitor['metadata']['name']}: nothing has the port {endpoint['port']}."
            for pods in asked:
                if pods.ports[endpoint["port"]] not in open_outside(manifests, pods, "Ingress"):
                    yield f"{pods}: no {POLICY} lets the port {endpoint['port']} be asked from another namespace."
    for workload in manifests.long_running if monitors else ():
        selectors = [monitor["spec"]["selector"] for monitor in monitors]
        if workload.is_ours and not any(selects(selector, workload.labels) for selector in selectors):
            yield f"{workload}: nothing monitors it."


def routes(manifests: Manifests) -> Iterator[str]:
    """What comes from outside is led to the gateway alone, at a port that its Service has and policies open."""
    for name, port in _backends(manifests):
        way = f"A route leads to port {port} of {name}"
        if name != "gateway":
            yield f"{way}, which is not for the world."
        service = manifests.named("Service", name)
        listed = service["spec"]["ports"] if service else []
        targets = [each.get("targetPort", each["port"]) for each in listed if port in (each["port"], each["name"])]
        if service is None or not targets:
            yield f"{way}, and no Service has that port."
            continue
        for pods in manifests.selected({"matchLabels": service["spec"]["selector"]}):
            if pods.ports.get(targets[0], targets[0]) not in open_outside(manifests, pods, "Ingress"):
                yield f"{way}, and no {POLICY} opens the way there."


def way_in(manifests: Manifests) -> Iterator[str]:
    """There is one way in."""
    if len(list(_backends(manifests))) != 1:
        yield "There is not exactly one way in."


def addresses(manifests: Manifests) -> Iterator[str]:
    """An address that a program is told is that of a Service and its port, and policies open the way there."""
    for workload in manifests.workloads:
        for container in workload.containers:
            for name, value in _told(manifests, workload, container):
                found = _URL.match(value)
                # PUBLIC_URL is where people come from outside; nobody here goes there.
                if found is None or name == "PUBLIC_URL" or not name.endswith(("_URL", "_ENDPOINT")):
                    continue
                host, _, elsewhere = found["host"].partition(".")
                port = int(found["port"] or PORTS_BY_SCHEME[found["scheme"]])
                way = f"{workload}: {name} leads to {found['host']}:{port}"
                if not elsewhere:
                    yield from _within(manifests, workload, way, host, port)
                elif port not in open_outside(manifests, workload, "Egress", elsewhere.partition(".")[0]):
                    yield f"{way}, and no {POLICY} opens the way there."


def operated_are_reached(manifests: Manifests) -> Iterator[str]:
    """Who is told the address of a database or broker that an operator runs may go there."""
    for workload in manifests.workloads:
        for container in workload.containers:
            secrets = {name for name, _ in environment(manifests, workload, container).files.values()}
            for pods in manifests.operated:
                is_told = any(name.startswith(f"{pods.name}-") for name in secrets)
                if is_told and pods.serves not in open_between(manifests, workload, pods, "Egress"):
                    yield f"{workload}: no {POLICY} opens the way to {pods}."


def _told(manifests: Manifests, workload: Workload, container: Object) -> Iterator[tuple[str, str]]:
    told = environment(manifests, workload, container)
    yield from told.values.items()
    for file, (secret, key) in told.files.items():
        yield file.upper(), manifests.content(secret, key)


def _within(manifests: Manifests, workload: Workload, way: str, host: str, port: int) -> Iterator[str]:
    for operated in manifests.operated:
        if (operated.service, operated.serves) == (host, port):
            if port not in open_between(manifests, workload, operated, "Egress"):
                yield f"{way}, and no {POLICY} opens the way there."
            return
    service = manifests.named("Service", host)
    listed = service["spec"]["ports"] if service else []
    targets = [each.get("targetPort", port) for each in listed if each["port"] == port]
    if service is None or not targets:
        yield f"{way}, and no Service has that port."
        return
    for called in manifests.selected({"matchLabels": service["spec"]["selector"]}):
        if called.ports.get(targets[0], targets[0]) not in open_between(manifests, workload, called, "Egress"):
            yield f"{way}, and no {POLICY} opens the way there."


def _backends(manifests: Manifests) -> Iterator[tuple[str, int | str]]:
    for route in manifests.of("HTTPRoute"):
        for rule in route["spec"]["rules"]:
            yield from ((each["name"], each["port"]) for each in rule["backendRefs"])
    for ingress in manifests.of("Ingress"):
        for rule in ingress["spec"].get("rules") or []:
            for path in rule["http"]["paths"]:
                port = path["backend"]["service"]["port"]
                yield path["backend"]["service"]["name"], port.get("number", port.get("name"))

"""Rendered objects, and what belongs together among them: workloads, their pods, and what selects these."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contracts.routes import SERVICES
from manifests.operators import OperatedPods, operated

Object = dict[str, Any]

LONG_RUNNING = ("Deployment", "StatefulSet")
TO_AN_END = ("Job", "CronJob")
OURS = {"gateway", *(service.name for service in SERVICES)}


@dataclass(frozen=True, slots=True)
class Workload:
    """What runs pods: one Deployment, StatefulSet, Job or CronJob."""

    object: Object

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    @property
    def kind(self) -> str:
        """Deployment, StatefulSet, Job or CronJob."""
        return str(self.object["kind"])

    @property
    def name(self) -> str:
        """The object's own name."""
        return str(self.object["metadata"]["name"])

    @property
    def template(self) -> Object:
        """What its pods are made from: metadata and spec."""
        spec = self.object["spec"]["jobTemplate"]["spec"] if self.kind == "CronJob" else self.object["spec"]
        template: Object = spec["template"]
        return template

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of its pods."""
        return self.template.get("metadata", {}).get("labels") or {}

    @property
    def pod(self) -> Object:
        """The spec of its pods."""
        spec: Object = self.template["spec"]
        return spec

    @property
    def containers(self) -> list[Object]:
        """All containers of its pods, those that run before the others too."""
        return [*self.pod.get("initContainers", []), *self.pod["containers"]]

    @property
    def ports(self) -> Mapping[str, int]:
        """The ports of its containers, by name; one without a name by its number."""
        declared = [port for container in self.containers for port in container.get("ports") or []]
        return {str(port.get("name", port["containerPort"])): int(port["containerPort"]) for port in declared}

    @property
    def is_ours(self) -> bool:
        """Whether it runs one of our images."""
        return any(image_name(container) in OURS for container in self.containers)

    @property
    def runs_to_an_end(self) -> bool:
        """Whether its pods end by themselves: then they have no probes, no budget and no spread."""
        return self.kind in TO_AN_END


Pods = Workload | OperatedPods


class Manifests:
    """All objects of one overlay, and the keys of the Secrets that are made for it: by a command, or by operators."""

    def __init__(self, objects: Iterable[Object], made: Iterable[Object] = ()) -> None:
        self.objects = list(objects)
        self.made = {each["metadata"]["name"]: each["data"] for each in made}
        self.workloads = [Workload(each) for each in self.of(*LONG_RUNNING, *TO_AN_END)]
        self.pods: list[Pods] = [*self.workloads, *map(operated, self.of("Cluster", "RabbitmqCluster"))]
        self.operated = [each for each in self.pods if isinstance(each, OperatedPods)]
        self.long_running = [each for each in self.workloads if not each.runs_to_an_end]

    def of(self, *kinds: str) -> list[Object]:
        """Return the objects of these kinds."""
        return [each for each in self.objects if each["kind"] in kinds]

    def named(self, kind: str, name: str) -> Object | None:
        """Return the one object of a kind and name; None when there is none."""
        return next((each for each in self.of(kind) if each["metadata"]["name"] == name), None)

    def content(self, secret: str, key: str) -> str:
        """Return what the command that makes keys put into a Secret; nothing when another makes it."""
        return base64.b64decode(self.made.get(secret, {}).get(key, "")).decode()

    def selected(self, selector: Mapping[str, Any] | None) -> list[Pods]:
        """Return whose pods a label selector selects."""
        return [each for each in self.pods if selects(selector, each.labels)]


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Say whether a label selector selects pods with these labels: none selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    if any(labels.get(name) != value for name, value in wanted.items()):
        return False
    return all(_holds(expression, labels) for expression in selector.get("matchExpressions") or [])


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    value = labels.get(expression["key"])
    match expression["operator"]:
        case "In":
            return value in expression["values"]
        case "NotIn":
            return value not in expression["values"]
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    raise ValueError(f"There is no operator {expression['operator']} in a label selector.")


def image_name(container: Mapping[str, Any]) -> str:
    """Return the last part of an image's name, without registry, tag and digest."""
    return str(container["image"]).partition("@")[0].rpartition("/")[2].partition(":")[0]


def texts(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Return every text within an object, and where it stands."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from texts(value, f"{path}.{key}" if path else str(key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from texts(value, f"{path}[{index}]")
    elif isinstance(node, str):
        yield path, node

"""What operators make of their resources, as they document it: pods with labels and ports, Secrets with keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OperatedPods:
    """Pods that an operator makes for a resource of its own: they are in no manifest, but policies select them."""

    kind: str
    name: str
    labels: Mapping[str, str]
    ports: Mapping[str, int]
    service: str
    """The Service that the operator makes for programs."""
    serves: int
    """The port at which they use it."""
    among_themselves: frozenset[int]
    asked_by_operator: int
    secrets: Mapping[str, frozenset[str]]
    """What programs find its address and password in, and the authority that its certificate is of, with their keys."""
    brings_a_budget: bool

    def __str__(self) -> str:
        return f"the pods of {self.kind} {self.name}"


def operated(resource: Mapping[str, Any]) -> OperatedPods:
    """Return the pods of CloudNativePG's Cluster or of a RabbitmqCluster."""
    name = str(resource["metadata"]["name"])
    if resource["kind"] == "Cluster":
        return OperatedPods(
            kind="Cluster",
            name=name,
            labels={"cnpg.io/cluster": name, "cnpg.io/podRole": "instance"},
            ports={"postgresql": 5432, "metrics": 9187, "status": 8000},
            service=f"{name}-rw",
            serves=5432,
            among_themselves=frozenset({5432, 8000}),
            asked_by_operator=8000,
            secrets={
                f"{name}-app": frozenset(
                    {"username", "password", "host", "port", "dbname", "uri", "jdbc-uri", "pgpass"}
                ),
                f"{name}-ca": frozenset({"ca.crt", "ca.key"}),
            },
            brings_a_budget=resource["spec"].get("enablePDB", True),
        )
    return OperatedPods(
        kind="RabbitmqCluster",
        name=name,
        labels={
            "app.kubernetes.io/name": name,
            "app.kubernetes.io/component": "rabbitmq",
            "app.kubernetes.io/part-of": "rabbitmq",
        },
        ports={
            "amqp": 5672,
            "amqps": 5671,
            "management": 15672,
            "prometheus": 15692,
            "epmd": 4369,
            "cluster-rpc": 25672,
        },
        service=name,
        serves=5671 if "tls" in resource["spec"] else 5672,
        among_themselves=frozenset({4369, 25672}),
        asked_by_operator=15672,
        secrets={f"{name}-default-user": frozenset({"username", "password", "host", "port", "connection_string"})},
        brings_a_budget=False,
    )

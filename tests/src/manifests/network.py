"""Rules for who may talk to whom: all is denied, and what is opened is opened at both ends."""

from collections.abc import Iterator
from typing import Any

from manifests.objects import Manifests, Pods, selects

POLICY = "NetworkPolicy"
DIRECTIONS = ("Ingress", "Egress")


def denied_by_default(manifests: Manifests) -> Iterator[str]:
    """One policy takes every pod of the namespace in both directions, and opens nothing."""
    policies = [each["spec"] for each in manifests.of(POLICY)]
    if not any(
        spec["podSelector"] == {}
        and set(spec.get("policyTypes", [])) == set(DIRECTIONS)
        and not spec.get("ingress")
        and not spec.get("egress")
        for spec in policies
    ):
        yield f"No {POLICY} denies everything in both directions."
    for each in manifests.of(POLICY):
        ours = any(pods in manifests.workloads for pods in manifests.selected(each["spec"]["podSelector"]))
        for rule in [*(each["spec"].get("ingress") or []), *(each["spec"].get("egress") or [])]:
            if not rule.get("ports"):
                yield f"{POLICY} {each['metadata']['name']}: a rule opens all ports."
            if ours and not rule.get("to", rule.get("from")):
                yield f"{POLICY} {each['metadata']['name']}: a rule opens a way for everybody."


def selected_in_both_directions(manifests: Manifests) -> Iterator[str]:
    """Policies hold all pods in both directions, one of them made for these; each policy selects some."""
    for pods in manifests.pods:
        specs = {direction: _policies(manifests, pods, direction) for direction in DIRECTIONS}
        for direction in DIRECTIONS:
            if not specs[direction]:
                yield f"{pods}: no {POLICY} holds their {direction.lower()}."
        if not any(each["podSelector"] for direction in DIRECTIONS for each in specs[direction]):
            yield f"{pods}: no {POLICY} is made for them."
    for each in manifests.of(POLICY):
        if not manifests.selected(each["spec"]["podSelector"]):
            yield f"{POLICY} {each['metadata']['name']}: it selects nothing."


def both_ends_open(manifests: Manifests) -> Iterator[str]:
    """What may be called from one side may be answered on the other: an egress has its ingress, and the reverse."""
    for caller in manifests.pods:
        for called in manifests.pods:
            out = open_between(manifests, caller, called, "Egress")
            into = open_between(manifests, called, caller, "Ingress")
            for port in sorted(out - into):
                yield f"{caller} may call {called} at {port}, which does not take that."
            for port in sorted(into - out):
                yield f"{called} takes calls of {caller} at {port}, which may make none."


def names_are_found(manifests: Manifests) -> Iterator[str]:
    """All workloads may ask for names, in the namespace where clusters have their DNS."""
    for workload in manifests.workloads:
        if 53 not in open_outside(manifests, workload, "Egress", "kube-system"):
            yield f"{workload}: no {POLICY} lets it ask for names."


def operated_pods_are_reached(manifests: Manifests) -> Iterator[str]:
    """Pods that operators make reach one another, and the operator reaches them from its own namespace."""
    for pods in manifests.operated:
        for port in sorted(pods.among_themselves - open_between(manifests, pods, pods, "Ingress")):
            yield f"{pods}: they do not reach one another at {port}."
        if pods.asked_by_operator not in open_outside(manifests, pods, "Ingress"):
            yield f"{pods}: their operator does not reach them at {pods.asked_by_operator}."


def _policies(manifests: Manifests, pods: Pods, direction: str) -> list[dict[str, Any]]:
    specs: list[dict[str, Any]] = [each["spec"] for each in manifests.of(POLICY)]
    return [spec for spec in specs if direction in spec["policyTypes"] and selects(spec["podSelector"], pods.labels)]


def _ways(manifests: Manifests, pods: Pods, direction: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Return each peer that policies of some pods name, with the ports that they open to or from it."""
    for spec in _policies(manifests, pods, direction):
        for rule in spec.get(direction.lower()) or []:
            for peer in rule.get("to" if direction == "Egress" else "from") or []:
                yield peer, rule.get("ports") or []


def open_between(manifests: Manifests, pods: Pods, other: Pods, direction: str) -> set[int]:
    """Return the ports at which policies of `pods` open the way to or from `other`."""
    called = other if direction == "Egress" else pods
    return {
        number
        for peer, ports in _ways(manifests, pods, direction)
        if "namespaceSelector" not in peer and selects(peer.get("podSelector"), other.labels)
        for number in _numbers(ports, called)
    }


def open_outside(manifests: Manifests, pods: Pods, direction: str, namespace: str | None = None) -> set[int]:
    """Return the ports at which policies of `pods` open the way to or from a namespace; without a name, from any."""
    return {
        number
        for peer, ports in _ways(manifests, pods, direction)
        if "namespaceSelector" in peer
        and (namespace is None or selects(peer["namespaceSelector"], {"kubernetes.io/metadata.name": namespace}))
        for number in _numbers(ports, pods)
    }


def _numbers(ports: list[dict[str, Any]], called: Pods) -> Iterator[int]:
    for each in ports:
        first = called.ports.get(each["port"], each["port"])
        yield from range(first, each.get("endPort", first) + 1)

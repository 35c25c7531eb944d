"""Every rule for who may talk to whom can fail: it says so when production is broken in one way."""

import base64
import copy

import pytest

from manifests import connectivity, network
from manifests.breaking import Break, Change, rules_of, said
from manifests.objects import Manifests
from manifests.rendering import FOLDER, render, render_keys
from manifests.rules import Rule

BREAKS: list[Break] = [
    (
        network.denied_by_default,
        "No NetworkPolicy denies everything in both directions.",
        lambda p: p.spec("NetworkPolicy", "default-deny").update(policyTypes=["Ingress"]),
    ),
    (
        network.denied_by_default,
        "NetworkPolicy gateway-to-apps: a rule opens all ports.",
        lambda p: p.spec("NetworkPolicy", "gateway-to-apps")["egress"][0].pop("ports"),
    ),
    (
        network.selected_in_both_directions,
        "NetworkPolicy gateway-to-apps: it selects nothing.",
        lambda p: p.spec("NetworkPolicy", "gateway-to-apps").update(podSelector={"matchLabels": {"app": "x"}}),
    ),
    (
        network.selected_in_both_directions,
        "Deployment gateway: no NetworkPolicy is made for them.",
        lambda p: p.spec("Deployment", "gateway")["template"]["metadata"].update(labels={"app": "x"}),
    ),
    (
        network.both_ends_open,
        "Deployment gateway may call Deployment auth-service at 8000, which does not take that.",
        lambda p: p.remove("NetworkPolicy", "apps-from-gateway"),
    ),
    (
        network.both_ends_open,
        "Deployment auth-service takes calls of Deployment gateway at 8000, which may make none.",
        lambda p: p.remove("NetworkPolicy", "gateway-to-apps"),
    ),
    (
        network.names_are_found,
        "Deployment gateway: no NetworkPolicy lets it ask for names.",
        lambda p: p.remove("NetworkPolicy", "dns"),
    ),
    (
        network.operated_pods_are_reached,
        "the pods of RabbitmqCluster rabbitmq: they do not reach one another at 25672.",
        lambda p: p.remove("NetworkPolicy", "broker-nodes"),
    ),
    (
        network.operated_pods_are_reached,
        "the pods of Cluster auth-database: their operator does not reach them at 8000.",
        lambda p: p.remove("NetworkPolicy", "databases-from-operator"),
    ),
    (
        connectivity.operated_are_reached,
        "Deployment auth-worker: no NetworkPolicy opens the way to the pods of Cluster auth-database.",
        lambda p: p.spec("Deployment", "auth-worker")["template"]["metadata"]["labels"].pop(
            "app.kubernetes.io/component"
        ),
    ),
    (
        connectivity.routes,
        "A route leads to port 8000 of gateway, and no NetworkPolicy opens the way there.",
        lambda p: p.remove("NetworkPolicy", "gateway-from-outside"),
    ),
    (connectivity.way_in, "There is not exactly one way in.", lambda p: p.remove("HTTPRoute", "traceline")),
    (
        connectivity.services,
        "Service gateway: Deployment gateway has no port web.",
        lambda p: p.spec("Service", "gateway")["ports"][0].update(targetPort="web"),
    ),
    (
        connectivity.services,
        "Service gateway: it selects 0 workloads.",
        lambda p: p.spec("Service", "gateway").update(selector={"app": "gateway"}),
    ),
    (
        connectivity.routes,
        "A route leads to port 8000 of gateway, and no Service has that port.",
        lambda p: p.spec("Service", "gateway")["ports"][0].update(port=80),
    ),
    (
        connectivity.addresses,
        "Deployment gateway: AUTH_URL leads to auth-service:80, and no Service has that port.",
        lambda p: p.env("gateway", "AUTH_URL", "http://auth-service:80"),
    ),
    (
        connectivity.addresses,
        "Deployment catalog-service: AUTH_URL leads to auth-service:8000, and no NetworkPolicy opens the way there.",
        lambda p: p.env("catalog-service", "AUTH_URL", "http://auth-service:8000"),
    ),
    (
        connectivity.addresses,
        "Deployment gateway: OTEL_EXPORTER_OTLP_ENDPOINT leads to collector.elsewhere:4318, and no NetworkPolicy opens",
        lambda p: p.env("gateway", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.elsewhere:4318"),
    ),
    (
        connectivity.monitored,
        "Deployment gateway: no NetworkPolicy lets the port metrics be asked from another namespace.",
        lambda p: p.remove("NetworkPolicy", "metrics-from-prometheus"),
    ),
    (
        connectivity.monitored,
        "PodMonitor traceline: nothing has the port measures.",
        lambda p: p.spec("PodMonitor", "traceline")["podMetricsEndpoints"][0].update(port="measures"),
    ),
    (connectivity.monitored, "Deployment gateway: nothing monitors it.", lambda p: p.remove("PodMonitor", "traceline")),
]


@pytest.mark.parametrize(("rule", "sentence", "break_it"), BREAKS, ids=[sentence for _, sentence, _ in BREAKS])
def test_a_rule_says_what_is_broken(rule: Rule, sentence: str, break_it: Change) -> None:
    complaints = said(rule, break_it)
    assert any(each.startswith(sentence) for each in complaints), complaints


def test_every_rule_was_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BREAKS} == rules_of(network, connectivity)


def test_the_addresses_in_keys_are_looked_at_and_never_told() -> None:
    keys = copy.deepcopy(render_keys("dev"))
    found = next(each for each in keys if each["metadata"]["name"] == "auth-database-run")
    found["data"]["uri"] = base64.b64encode(b"postgresql://auth:hidden@elsewhere:5432/auth").decode()
    said = list(connectivity.addresses(Manifests(render(FOLDER / "overlays" / "dev"), keys)))
    assert "Deployment auth-service: DATABASE_URL leads to elsewhere:5432, and no Service has that port." in said
    assert not any("hidden" in each for each in said)

"""Every rule for what goes on while pods are replaced can fail: it says so when production is broken in one way."""

import pytest

from manifests import disruption
from manifests.breaking import Break, Change, rules_of, said
from manifests.rules import Rule

BREAKS: list[Break] = [
    (disruption.budgets, "Deployment gateway: it has 0 budgets.", lambda p: p.remove("PodDisruptionBudget", "gateway")),
    (
        disruption.budgets,
        "PodDisruptionBudget gateway: it selects 0 workloads.",
        lambda p: p.spec("PodDisruptionBudget", "gateway")["selector"].update(matchLabels={"app": "gateway"}),
    ),
    (
        disruption.budgets,
        "Deployment gateway: its budget lets no pod go, so that no node can be drained.",
        lambda p: p.spec("PodDisruptionBudget", "gateway").update(maxUnavailable=0),
    ),
    (
        disruption.budgets,
        "the pods of RabbitmqCluster rabbitmq: they have no budget.",
        lambda p: p.remove("PodDisruptionBudget", "rabbitmq"),
    ),
    (
        disruption.scaling,
        "ScaledObject suggestion-worker: there is no TriggerAuthentication suggestion-database.",
        lambda p: p.remove("TriggerAuthentication", "suggestion-database"),
    ),
    (
        disruption.copies,
        "Deployment gateway: it may have a single pod.",
        lambda p: p.remove("HorizontalPodAutoscaler", "gateway"),
    ),
    (
        disruption.copies,
        "Cluster auth-database: nothing backs it up.",
        lambda p: p.spec("ScheduledBackup", "auth-database").update(suspend=True),
    ),
    (
        disruption.copies,
        "There is no Cluster auth-db to back up.",
        lambda p: p.spec("ScheduledBackup", "auth-database").update(cluster={"name": "auth-db"}),
    ),
    (
        disruption.scaling,
        "Deployment gateway: it says how many replicas, which each apply sets against HorizontalPodAutoscaler gateway.",
        lambda p: p.spec("Deployment", "gateway").update(replicas=3),
    ),
    (
        disruption.scaling,
        "HorizontalPodAutoscaler gateway: there is no Deployment gate.",
        lambda p: p.spec("HorizontalPodAutoscaler", "gateway")["scaleTargetRef"].update(name="gate"),
    ),
    (
        disruption.rollout,
        "Deployment gateway: a roll-out takes pods away before new ones are ready.",
        lambda p: p.spec("Deployment", "gateway")["strategy"]["rollingUpdate"].update(maxUnavailable=1),
    ),
    (
        disruption.grace,
        "Deployment gateway: program is given 45 s to end and may take 97.",
        lambda p: p.env("gateway", "SHUTDOWN_GRACE_SECONDS", "90"),
    ),
    (
        disruption.grace,
        "Deployment gateway: program ends at once, while it is still sent requests.",
        lambda p: p.container().pop("lifecycle"),
    ),
    (
        disruption.patience,
        "Deployment gateway: program is given 6 s to start and may take 300.",
        lambda p: p.container()["startupProbe"].update(periodSeconds=2, failureThreshold=3),
    ),
]


@pytest.mark.parametrize(("rule", "sentence", "break_it"), BREAKS, ids=[sentence for _, sentence, _ in BREAKS])
def test_a_rule_says_what_is_broken(rule: Rule, sentence: str, break_it: Change) -> None:
    complaints = said(rule, break_it)
    assert any(each.startswith(sentence) for each in complaints), complaints


def test_every_rule_was_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BREAKS} == rules_of(disruption)

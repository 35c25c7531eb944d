"""Every rule for pods can fail: it says so when production is broken in one way."""

import pytest

from manifests import pods
from manifests.breaking import JOB, Break, Change, rules_of, said
from manifests.pods import VERSION
from manifests.rules import Rule

BREAKS: list[Break] = [
    (pods.probes, "Deployment gateway: program has no startupProbe.", lambda p: p.container().pop("startupProbe")),
    (
        pods.probes,
        f"{JOB}: program ends by itself and has a livenessProbe.",
        lambda p: p.container("auth-migrations", "Job").update(livenessProbe={}),
    ),
    (
        pods.liveness_asks_the_program_alone,
        "Deployment auth-worker: the livenessProbe of program does not ask /livez at the port http.",
        lambda p: p.container("auth-worker")["livenessProbe"]["httpGet"].update(path="/readyz"),
    ),
    (
        pods.readiness_asks_for_what_is_its_own,
        "Deployment gateway: the readinessProbe of program does not ask /readyz at the port http.",
        lambda p: p.container()["readinessProbe"]["httpGet"].update(path="/healthz"),
    ),
    (
        pods.zone_spread,
        "Deployment gateway: its own pods are not spread over zones.",
        lambda p: p.pod()["topologySpreadConstraints"][0].update(labelSelector={}),
    ),
    (
        pods.locked_in,
        "Deployment gateway: program may be root.",
        lambda p: p.pod()["securityContext"].pop("runAsNonRoot"),
    ),
    (
        pods.locked_in,
        "Deployment gateway: it mounts a folder of the host.",
        lambda p: p.pod()["volumes"].append({"name": "host", "hostPath": {"path": "/"}}),
    ),
    (
        pods.no_token,
        "Deployment gateway: its service account has a token.",
        lambda p: p.get("ServiceAccount", "gateway").pop("automountServiceAccountToken"),
    ),
    (
        pods.no_token,
        "Deployment gateway: its service account is not there.",
        lambda p: p.remove("ServiceAccount", "gateway"),
    ),
    (
        pods.images,
        "Deployment gateway: the image traceline/gateway has no version.",
        lambda p: p.container().update(image="traceline/gateway"),
    ),
    (
        pods.images,
        f"Deployment gateway: the image traceline/gateway:0.0.9 is not of version {VERSION}.",
        lambda p: p.container().update(image="traceline/gateway:0.0.9"),
    ),
    (
        pods.jobs,
        f"Job auth-migrations-0-0-9: its name does not end with the version {VERSION}.",
        lambda p: p.get("Job", "auth-migrations")["metadata"].update(name="auth-migrations-0-0-9"),
    ),
    (
        pods.jobs,
        f"{JOB}: its pods do not end for good.",
        lambda p: p.pod("auth-migrations", "Job").pop("restartPolicy"),
    ),
    (
        pods.selectors,
        "Deployment auth-worker: its selector does not select exactly its own pods.",
        lambda p: p.spec("Deployment", "auth-worker").update(
            selector={"matchLabels": {"app.kubernetes.io/component": "auth"}}
        ),
    ),
    (
        pods.volumes,
        "Deployment gateway: program mounts cache, which is not there.",
        lambda p: p.container()["volumeMounts"].append({"name": "cache", "mountPath": "/cache"}),
    ),
    (
        pods.volumes,
        "Deployment gateway: tmp may grow without end.",
        lambda p: next(v for v in p.pod()["volumes"] if v["name"] == "tmp").update(emptyDir={}),
    ),
    (
        pods.volumes,
        "Deployment gateway: program may not write in /tmp.",
        lambda p: p.container().update(volumeMounts=[]),
    ),
    (
        pods.namespace,
        "Namespace traceline: it does not enforce the restricted level.",
        lambda p: p.get("Namespace", "traceline")["metadata"]["labels"].update(
            {"pod-security.kubernetes.io/enforce": "baseline"}
        ),
    ),
    (
        pods.namespace,
        "Service gateway: it is in no namespace of the manifests.",
        lambda p: p.get("Service", "gateway")["metadata"].update(namespace="default"),
    ),
]


@pytest.mark.parametrize(("rule", "sentence", "break_it"), BREAKS, ids=[sentence for _, sentence, _ in BREAKS])
def test_a_rule_says_what_is_broken(rule: Rule, sentence: str, break_it: Change) -> None:
    complaints = said(rule, break_it)
    assert any(each.startswith(sentence) for each in complaints), complaints


def test_every_rule_was_seen_to_fail() -> None:
    assert {rule for rule, _, _ in BREAKS} == rules_of(pods)

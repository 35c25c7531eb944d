"""Rules for what goes on while pods are replaced: nodes are drained, versions rolled out, replicas added."""

import re
from collections.abc import Iterator
from typing import Any

from chassis.server.http_server import DRAIN
from chassis.server.process.settings import ProcessSettings
from manifests.environment import environment
from manifests.objects import Manifests, Object, Workload, selects

BUDGET = "PodDisruptionBudget"
SCALERS = ("HorizontalPodAutoscaler", "ScaledObject")


def budgets(manifests: Manifests) -> Iterator[str]:
    """Each workload has one budget, which selects exactly its pods and lets a node be drained."""
    chosen = [(budget, manifests.selected(budget["spec"].get("selector"))) for budget in manifests.of(BUDGET)]
    for budget, workloads in chosen:
        if len(workloads) != 1:
            yield f"{BUDGET} {budget['metadata']['name']}: it selects {len(workloads)} workloads."
    for workload in manifests.long_running:
        own = [budget["spec"] for budget, workloads in chosen if workload in workloads]
        if len(own) != 1:
            yield f"{workload}: it has {len(own)} budgets."
        if not all(_lets_one_go(spec, _least_replicas(manifests, workload)) for spec in own):
            yield f"{workload}: its budget lets no pod go, so that no node can be drained."
    for pods in manifests.operated:
        if not pods.brings_a_budget and not any(pods in workloads for _, workloads in chosen):
            yield f"{pods}: they have no budget."


def _lets_one_go(spec: dict[str, Any], replicas: int) -> bool:
    if "maxUnavailable" in spec:
        return str(spec["maxUnavailable"]) not in ("0", "0%")
    least = str(spec["minAvailable"])
    kept = -(-replicas * int(least[:-1]) // 100) if least.endswith("%") else int(least)
    return kept < replicas


def scaling(manifests: Manifests) -> Iterator[str]:
    """One scaler a workload at most, of a workload that is there, which does not say how many replicas itself."""
    scaled: dict[str, int] = {}
    for scaler in manifests.of(*SCALERS):
        name = f"{scaler['kind']} {scaler['metadata']['name']}"
        target = _target(scaler)
        workload = next((each for each in manifests.long_running if str(each) == target), None)
        if workload is None:
            yield f"{name}: there is no {target}."
            continue
        scaled[target] = scaled.get(target, 0) + 1
        if scaled[target] > 1:
            yield f"{target}: more than one scaler works on it."
        if "replicas" in workload.object["spec"]:
            yield f"{target}: it says how many replicas, which each apply sets against {name}."
    for workload in manifests.long_running:
        if _least_replicas(manifests, workload) < 1:
            yield f"{workload}: it may have no pod at all."
    for scaler in manifests.of("ScaledObject"):
        for trigger in scaler["spec"]["triggers"]:
            asked = trigger.get("authenticationRef")
            if asked and manifests.named("TriggerAuthentication", asked["name"]) is None:
                yield f"ScaledObject {scaler['metadata']['name']}: there is no TriggerAuthentication {asked['name']}."


def copies(manifests: Manifests) -> Iterator[str]:
    """A node that dies takes nothing along: two pods or more of each program, and a backup of each database."""
    for workload in manifests.long_running:
        if _least_replicas(manifests, workload) < 2:
            yield f"{workload}: it may have a single pod."
    schedules = [each["spec"] for each in manifests.of("ScheduledBackup") if not each["spec"].get("suspend")]
    backed_up = {each["cluster"]["name"] for each in schedules}
    databases = {each["metadata"]["name"] for each in manifests.of("Cluster")}
    for name in sorted(databases ^ backed_up):
        yield (
            f"Cluster {name}: nothing backs it up." if name in databases else f"There is no Cluster {name} to back up."
        )


def _target(scaler: Object) -> str:
    reference = scaler["spec"]["scaleTargetRef"]
    return f"{reference.get('kind', 'Deployment')} {reference['name']}"


def _least_replicas(manifests: Manifests, workload: Workload) -> int:
    for scaler in manifests.of(*SCALERS):
        if _target(scaler) == str(workload):
            spec = scaler["spec"]
            return int(spec.get("minReplicas", 1) if "minReplicas" in spec else spec.get("minReplicaCount", 0))
    return int(workload.object["spec"].get("replicas", 1))


def rollout(manifests: Manifests) -> Iterator[str]:
    """A new pod is ready before an old one goes."""
    for each in manifests.of("Deployment"):
        how = each["spec"].get("strategy", {}).get("rollingUpdate", {})
        if how.get("maxUnavailable") not in (0, "0%"):
            yield f"Deployment {each['metadata']['name']}: a roll-out takes pods away before new ones are ready."


def grace(manifests: Manifests) -> Iterator[str]:
    """A pod is killed only after it was taken out of its Service, and its requests had the time that they are given."""
    for workload in manifests.long_running:
        if not workload.is_ours:
            continue
        for container in workload.pod["containers"]:
            needed = _pause(container) + DRAIN + _seconds(manifests, workload, container, "shutdown_grace_seconds")
            given = workload.pod.get("terminationGracePeriodSeconds", 30)
            if given <= needed:
                yield f"{workload}: {container['name']} is given {given} s to end and may take {needed:g}."
            if _pause(container) <= 0 and _is_called(manifests, workload):
                yield f"{workload}: {container['name']} ends at once, while it is still sent requests."


def patience(manifests: Manifests) -> Iterator[str]:
    """A program that waits for its database or schema is not killed before it gives up by itself, with its reason."""
    for workload in manifests.long_running:
        for container in workload.pod["containers"] if workload.is_ours else ():
            needed = _seconds(manifests, workload, container, "start_patience_seconds")
            probe = container.get("startupProbe", {})
            given = probe.get("periodSeconds", 10) * probe.get("failureThreshold", 3)
            if given <= needed:
                yield f"{workload}: {container['name']} is given {given} s to start and may take {needed:g}."


def _seconds(manifests: Manifests, workload: Workload, container: Object, setting: str) -> float:
    told = environment(manifests, workload, container).values
    return float(told.get(setting.upper(), ProcessSettings.model_fields[setting].default))


def _is_called(manifests: Manifests, workload: Workload) -> bool:
    selectors = [{"matchLabels": each["spec"]["selector"]} for each in manifests.of("Service")]
    return any(selects(selector, workload.labels) for selector in selectors)


def _pause(container: Object) -> float:
    hook = container.get("lifecycle", {}).get("preStop", {})
    if "sleep" in hook:
        return float(hook["sleep"]["seconds"])
    found = re.search(r"sleep[ (]+([\d.]+)", " ".join(hook.get("exec", {}).get("command", [])))
    return float(found[1]) if found else 0

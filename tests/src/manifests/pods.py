"""Rules for pods, beside those of checkov: what they may do and get, and how it is known that they are well."""

from collections.abc import Iterator

from chassis.core.version import software
from manifests.objects import Manifests, Object, Workload

VERSION = software()
SCRATCH = "/tmp"  # noqa: S108 - a folder in containers
ZONE = "topology.kubernetes.io/zone"
PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


def probes(manifests: Manifests) -> Iterator[str]:
    """What runs on has all three probes; what ends by itself has none."""
    for workload in manifests.workloads:
        for container in workload.pod["containers"]:
            for probe in PROBES:
                if workload.runs_to_an_end and probe in container:
                    yield f"{workload}: {container['name']} ends by itself and has a {probe}."
                if not workload.runs_to_an_end and probe not in container:
                    yield f"{workload}: {container['name']} has no {probe}."


def liveness_asks_the_program_alone(manifests: Manifests) -> Iterator[str]:
    """A database or broker that is away must not have our pods killed: /livez asks neither, /readyz and /healthz do."""
    yield from _asks(manifests, "/livez", "startupProbe", "livenessProbe")


def readiness_asks_for_what_is_its_own(manifests: Manifests) -> Iterator[str]:
    """/readyz asks for a program's own database and schema; /healthz would take gateways out for any one service."""
    yield from _asks(manifests, "/readyz", "readinessProbe")


def _asks(manifests: Manifests, path: str, *probes: str) -> Iterator[str]:
    for workload in manifests.long_running:
        for container in workload.pod["containers"] if workload.is_ours else ():
            for probe in probes:
                asked = container.get(probe, {}).get("httpGet", {})
                if (asked.get("path"), asked.get("port")) != (path, "http"):
                    yield f"{workload}: the {probe} of {container['name']} does not ask {path} at the port http."


def zone_spread(manifests: Manifests) -> Iterator[str]:
    """The pods of a workload are spread over zones: the constraint counts exactly them."""
    for workload in manifests.long_running:
        constraints = workload.pod.get("topologySpreadConstraints", [])
        selectors = [each.get("labelSelector") for each in constraints if each["topologyKey"] == ZONE]
        if not any(manifests.selected(selector) == [workload] for selector in selectors):
            yield f"{workload}: its own pods are not spread over zones."


def locked_in(manifests: Manifests) -> Iterator[str]:
    """What checkov does not see of the restricted level: no image may choose to be root, no folder is the host's."""
    for workload in manifests.workloads:
        security = workload.pod.get("securityContext", {})
        if any("hostPath" in volume for volume in workload.pod.get("volumes", [])):
            yield f"{workload}: it mounts a folder of the host."
        for container in workload.containers:
            if {**security, **container.get("securityContext", {})}.get("runAsNonRoot") is not True:
                yield f"{workload}: {container['name']} may be root."


def no_token(manifests: Manifests) -> Iterator[str]:
    """Nothing of ours talks to the cluster: each workload has an account of its own service, without a token."""
    for workload in manifests.workloads:
        account = manifests.named("ServiceAccount", workload.pod.get("serviceAccountName", "default"))
        if account is None:
            yield f"{workload}: its service account is not there."
        elif account.get("automountServiceAccountToken") is not False:
            yield f"{workload}: its service account has a token."


def images(manifests: Manifests) -> Iterator[str]:
    """Our images have the version of the code beside them; nobody's is whatever is newest."""
    for workload, container in _containers(manifests):
        _, _, tag = str(container["image"]).partition("@")[0].rpartition("/")[2].partition(":")
        if not tag or tag == "latest":
            yield f"{workload}: the image {container['image']} has no version."
        elif workload.is_ours and tag != VERSION:
            yield f"{workload}: the image {container['image']} is not of version {VERSION}."


def selectors(manifests: Manifests) -> Iterator[str]:
    """A workload takes the pods that it makes for its own, and nobody else's."""
    for workload in manifests.long_running:
        if manifests.selected(workload.object["spec"]["selector"] or {}) != [workload]:
            yield f"{workload}: its selector does not select exactly its own pods."


def volumes(manifests: Manifests) -> Iterator[str]:
    """What is mounted is there; where one may write there is a limit, and programs of ours may write in /tmp."""
    for workload, container in _containers(manifests):
        there = {each["name"]: each for each in workload.pod.get("volumes") or []}
        claimed = {each["metadata"]["name"] for each in workload.object["spec"].get("volumeClaimTemplates") or []}
        mounted = {each["mountPath"]: each["name"] for each in container.get("volumeMounts") or []}
        for name in sorted(set(mounted.values()) - set(there) - claimed):
            yield f"{workload}: {container['name']} mounts {name}, which is not there."
        for name, volume in there.items():
            if "emptyDir" in volume and "sizeLimit" not in (volume["emptyDir"] or {}):
                yield f"{workload}: {name} may grow without end."
        if workload.is_ours and "emptyDir" not in there.get(mounted.get(SCRATCH, ""), {}):
            yield f"{workload}: {container['name']} may not write in /tmp."


def jobs(manifests: Manifests) -> Iterator[str]:
    """A Job ends, and cannot be changed: the version in its name makes each version bring Jobs of its own."""
    for workload in manifests.workloads:
        if workload.runs_to_an_end and workload.pod.get("restartPolicy") not in ("Never", "OnFailure"):
            yield f"{workload}: its pods do not end for good."
        if workload.kind == "Job" and not workload.name.endswith(f"-{VERSION.replace('.', '-')}"):
            yield f"{workload}: its name does not end with the version {VERSION}."


def namespace(manifests: Manifests) -> Iterator[str]:
    """Everything is in one namespace, which is there and at the restricted level of pod security."""
    spaces = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in manifests.of("Namespace")}
    for name, labels in spaces.items():
        if labels.get("pod-security.kubernetes.io/enforce") != "restricted":
            yield f"Namespace {name}: it does not enforce the restricted level."
    for each in manifests.objects:
        if each["kind"] not in ("Namespace", "StorageClass") and each["metadata"].get("namespace") not in spaces:
            yield f"{each['kind']} {each['metadata']['name']}: it is in no namespace of the manifests."


def _containers(manifests: Manifests) -> Iterator[tuple[Workload, Object]]:
    return ((workload, container) for workload in manifests.workloads for container in workload.containers)

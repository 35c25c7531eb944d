"""Rules for secrets: none is in the manifests, and each that is asked for is made by a command or by an operator."""

import re
from collections.abc import Iterator

from chassis.core.settings import is_secret
from manifests.environment import environment, programs_told, secrets_of
from manifests.objects import Manifests, texts

URLS_WITH_PASSWORDS = {"database_url", "rabbitmq_url"}
_PASSWORD_IN_URL = re.compile(r"://[^/\s:@]+:[^/\s@]+@")
_SECRET_NAME = re.compile(
    r"PASS|SECRET|COOKIE|(?<!RATE_LIMIT_)TOKEN(?!_EXPIRE)|SIGNING_KEY(?!_ROTATION)", re.IGNORECASE
)


def come_as_files(manifests: Manifests) -> Iterator[str]:
    """No secret of ours is a variable, which shows in what a container is described by; nothing is written out."""
    for workload, container, told, fields in programs_told(manifests):
        secret = {name for name, field in fields.items() if is_secret(field)} | URLS_WITH_PASSWORDS
        for name in (*told.values, *told.secrets):
            if name.lower() in secret:
                yield f"{workload}: {container['name']} is told {name} by a variable, not by a file."
    for workload in manifests.workloads:
        for container in workload.containers:
            for name, value in environment(manifests, workload, container).values.items():
                if _SECRET_NAME.search(name) and not value.startswith("/"):
                    yield f"{workload}: {name} of {container['name']} is written out."


def none_is_inline(manifests: Manifests) -> Iterator[str]:
    """No object holds a secret."""
    for each in manifests.of("Secret"):
        yield f"Secret {each['metadata']['name']}: it is in the manifests."
    for each in manifests.objects:
        for place, text in texts(each):
            if _PASSWORD_IN_URL.search(text) or "PRIVATE KEY" in text:
                yield f"{each['kind']} {each['metadata']['name']}: {place} holds a password."


def each_is_made(manifests: Manifests) -> Iterator[str]:
    """Each key of a Secret that is asked for is made; each Secret that the command makes is asked for."""
    made = _made(manifests)
    asked = set()
    for who, secret, key, is_optional in _asked(manifests):
        asked.add(secret)
        if is_optional and secret not in made:
            continue
        if secret not in made:
            yield f"{who} asks for the Secret {secret}, which nobody makes."
        elif key is not None and key not in made[secret]:
            yield f"{who} asks for {key} of the Secret {secret}, which does not have it."
    for name in sorted(set(manifests.made) - asked):
        yield f"The Secret {name} is made, and nothing asks for it."


def none_is_left_out(manifests: Manifests) -> Iterator[str]:
    """Each Secret that programs do without where it is not there is there."""
    for who, secret in sorted({(who, secret) for who, secret, _, _ in _asked(manifests)}):
        if secret not in _made(manifests):
            yield f"{who} goes without the Secret {secret}."


def can_be_read(manifests: Manifests) -> Iterator[str]:
    """Files that only a group may read belong to a group of the pod."""
    for workload in manifests.workloads:
        for volume in workload.pod.get("volumes") or []:
            mode = volume.get("projected", volume.get("secret", {})).get("defaultMode", 0o644)
            if not mode & 0o004 and "fsGroup" not in workload.pod.get("securityContext", {}):
                yield f"{workload}: its programs cannot read the files of {volume['name']}."


def _made(manifests: Manifests) -> dict[str, frozenset[str]]:
    """Return the Secrets that the command or an operator makes, with their keys."""
    made = {name: frozenset(data) for name, data in manifests.made.items()}
    for pods in manifests.operated:
        made |= pods.secrets
    return made


def _asked(manifests: Manifests) -> Iterator[tuple[str, str, str | None, bool]]:
    """Return who asks for which Secret, for which key of it (None for all), and whether it does without."""
    for workload in manifests.workloads:
        for volume in workload.pod.get("volumes") or []:
            for secret in secrets_of(volume):
                for item in secret.get("items") or [{"key": None}]:
                    yield str(workload), secret["name"], item["key"], secret.get("optional", False)
        for container in workload.containers:
            for secret_name, key in environment(manifests, workload, container).secrets.values():
                yield str(workload), secret_name, key, False
    for each in manifests.of("RabbitmqCluster"):
        pod = each["spec"]["override"]["statefulSet"]["spec"]["template"]["spec"]
        shown = each["spec"].get("tls")
        names = [secret["name"] for volume in pod["volumes"] for secret in secrets_of(volume)]
        for name in (*names, *([shown["secretName"]] if shown else [])):
            yield f"RabbitmqCluster {each['metadata']['name']}", name, None, False
    for each in manifests.of("TriggerAuthentication"):
        for reference in each["spec"].get("secretTargetRef") or []:
            yield f"TriggerAuthentication {each['metadata']['name']}", reference["name"], reference["key"], False

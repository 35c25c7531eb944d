"""What a container is told: variables by value and by secret, and the files of SECRETS_DIR."""

import importlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.sdk import environment_variables as opentelemetry_variables
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from chassis.server.process.programs import app_settings, worker_settings
from chassis.server.process.settings import SERVICE, ProcessSettings, addresses
from chassis.server.service import service_of
from contracts.routes import SERVICES
from manifests.objects import Manifests, Object, Workload, image_name


@dataclass(slots=True)
class Environment:
    """Names of secrets stand beside the key that is read of them."""

    values: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the name of the variable."""
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By the name of the file in SECRETS_DIR."""
    missing: list[str] = field(default_factory=list)
    """ConfigMaps, and keys of them, that are asked for and not there."""

    @property
    def names(self) -> set[str]:
        """The settings that are given, in lower case; a file with an ending is none, a setting says where it is."""
        files = {name for name in self.files if "." not in name}
        return {name.lower() for name in (*self.values, *self.secrets)} | files


def environment(manifests: Manifests, workload: Workload, container: Object) -> Environment:
    """Return what a container of a workload is told."""
    told = Environment()
    for source in container.get("envFrom") or []:
        reference = source.get("configMapRef")
        if reference is None:
            told.missing.append(f"{source} is not read variable by variable")
        else:
            told.values |= _config_map(manifests, reference["name"], told)
    for each in container.get("env") or []:
        origin = each.get("valueFrom", {})
        if "value" in each:
            told.values[each["name"]] = str(each["value"])
        elif "secretKeyRef" in origin:
            told.secrets[each["name"]] = (origin["secretKeyRef"]["name"], origin["secretKeyRef"]["key"])
        elif "configMapKeyRef" in origin:
            asked = origin["configMapKeyRef"]
            content = _config_map(manifests, asked["name"], told)
            if asked["key"] in content:
                told.values[each["name"]] = content[asked["key"]]
            else:
                told.missing.append(f"{asked['key']} of ConfigMap {asked['name']}")
        else:
            told.values[each["name"]] = ""  # of the pod itself
    told.files = dict(_files(workload, container, told.values.get("SECRETS_DIR")))
    _name_services(told, container)
    return told


def _name_services(told: Environment, container: Object) -> None:
    """Put the address of each service that a program asks in the place of SERVICE_URL, which says it of all."""
    module = program(container)
    if "SERVICE_URL" not in told.values or module is None or importlib.util.find_spec(module) is None:
        return
    asked = [service for service in SERVICES if f"{service.context}_url" in settings_of(module)]
    if asked:
        url = told.values.pop("SERVICE_URL")
        for service in asked:
            told.values.setdefault(f"{service.context.upper()}_URL", url.replace(SERVICE, service.name))


def _config_map(manifests: Manifests, name: str, told: Environment) -> dict[str, str]:
    found = manifests.named("ConfigMap", name)
    if found is None:
        told.missing.append(f"ConfigMap {name}")
        return {}
    return dict(found.get("data", {}))


def _files(workload: Workload, container: Object, folder: str | None) -> Iterator[tuple[str, tuple[str, str]]]:
    mounts = {each["name"]: each["mountPath"] for each in container.get("volumeMounts") or []}
    for volume in workload.pod.get("volumes") or []:
        if mounts.get(volume["name"]) != folder or folder is None:
            continue
        for secret in secrets_of(volume):
            for item in secret.get("items") or []:
                yield item["path"], (secret["name"], item["key"])


def secrets_of(volume: Object) -> list[dict[str, Any]]:
    """Return the secrets behind a volume, each with `name` and, when they are chosen, `items`."""
    if "secret" in volume:
        return [{**volume["secret"], "name": volume["secret"]["secretName"]}]
    return [each["secret"] for each in volume.get("projected", {}).get("sources", []) if "secret" in each]


def program(container: Object) -> str | None:
    """Return the module that `python -m` runs in a container of ours; None for other commands."""
    command = [*(container.get("command") or []), *(container.get("args") or [])]
    if not command:
        return f"{image_name(container).replace('-', '_')}.app"
    if command[:2] != ["python", "-m"]:
        return None
    return str(command[2])


def settings_of(module: str) -> dict[str, FieldInfo]:
    """Return the fields of all settings classes that a program reads."""
    package, _, program = module.partition(".")
    kinds = {kind for kind in vars(importlib.import_module(module)).values() if _is_settings(kind)}
    if program in ("app", "worker"):
        kinds.add(ProcessSettings)
    if module == "gateway.app":
        kinds.add(addresses([service.name for service in SERVICES]))
    elif program == "app":
        kinds |= set(app_settings(service_of(package)))
    elif program == "worker":
        kinds |= set(worker_settings(service_of(package)))
    fields: dict[str, FieldInfo] = {}
    for kind in kinds:
        # What one of them requires is required.
        fields |= {name: info for name, info in kind.model_fields.items() if name not in fields or info.is_required()}
    return fields


def _is_settings(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseSettings) and kind is not BaseSettings


READ_BESIDES = {"secrets_dir"} | {name.lower() for name in vars(opentelemetry_variables) if name.startswith("OTEL_")}
READ_BESIDES |= {"pgsslmode", "pgsslrootcert"}
"""What programs read that is no field of a settings class: the folder of secrets, and names of standards and libpq."""


def ours(manifests: Manifests) -> Iterator[tuple[Workload, Object]]:
    """Return the containers of the workloads that run our images."""
    return ((workload, each) for workload in manifests.workloads if workload.is_ours for each in workload.containers)


def programs_told(manifests: Manifests) -> Iterator[tuple[Workload, Object, Environment, dict[str, FieldInfo]]]:
    """Return the containers that run programs of ours, with what they are told and the settings that they read."""
    for workload, container in ours(manifests):
        module = program(container)
        if module is not None and importlib.util.find_spec(module) is not None:
            yield workload, container, environment(manifests, workload, container), settings_of(module)

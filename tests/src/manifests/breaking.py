"""Production broken in one way, so that a rule can be seen to fail."""

import copy
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from manifests.objects import Manifests, Object
from manifests.pods import VERSION
from manifests.rendering import FOLDER, render, render_keys
from manifests.rules import OF_A_WHOLE, OF_EACH_PART, OF_PRODUCTION, Rule

JOB = f"Job auth-migrations-{VERSION.replace('.', '-')}"


class Production:
    """A copy of all its objects, and ways to what the breaks take hold of."""

    def __init__(self) -> None:
        self.objects = copy.deepcopy(_objects())

    def get(self, kind: str, name: str) -> Object:
        """Return the object whose name begins so."""
        return next(o for o in self.objects if o["kind"] == kind and o["metadata"]["name"].startswith(name))

    def spec(self, kind: str, name: str) -> Object:
        """Return the spec of an object."""
        spec: Object = self.get(kind, name)["spec"]
        return spec

    def pod(self, name: str = "gateway", kind: str = "Deployment") -> Object:
        """Return the spec of a workload's pods."""
        pod: Object = self.spec(kind, name)["template"]["spec"]
        return pod

    def container(self, name: str = "gateway", kind: str = "Deployment") -> Object:
        """Return the first container of a workload."""
        container: Object = self.pod(name, kind)["containers"][0]
        return container

    def secret(self, deployment: str, name: str) -> Object:
        """Return the source of a Deployment's files that is the Secret of this name."""
        sources = next(v["projected"]["sources"] for v in self.pod(deployment)["volumes"] if "projected" in v)
        return next(each["secret"] for each in sources if each["secret"]["name"] == name)

    def env(self, name: str, variable: str, value: str) -> None:
        """Tell a Deployment's program a variable by value."""
        listed = self.container(name).setdefault("env", [])
        listed[:] = [*(each for each in listed if each["name"] != variable), {"name": variable, "value": value}]

    def remove(self, kind: str, name: str) -> None:
        """Take an object away."""
        self.objects.remove(self.get(kind, name))

    def add(self, kind: str, name: str, **content: Any) -> None:
        """Add an object."""
        metadata = {"name": name, "namespace": "traceline"}
        self.objects.append({"apiVersion": "v1", "kind": kind, "metadata": metadata, **content})


Change = Callable[[Production], object]
Break = tuple[Rule, str, Change]
"""A rule, how its sentence about the break begins, and what breaks it."""


def said(rule: Rule, break_it: Change) -> list[str]:
    """Return what a rule says of production when it is broken so."""
    production = Production()
    break_it(production)
    return list(rule(Manifests(production.objects, _keys())))


def rules_of(*rooms: ModuleType) -> set[Rule]:
    """Return the rules that modules hold."""
    names = {room.__name__ for room in rooms}
    return {rule for rule in (*OF_EACH_PART, *OF_A_WHOLE, *OF_PRODUCTION) if rule.__module__ in names}


@cache
def _objects() -> list[Object]:
    return render(FOLDER / "overlays" / "production")


@cache
def _keys() -> list[Object]:
    return render_keys("production")

"""The schemas of Kubernetes and of the operators' resources: each object is held to its own, strictly."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from kubernetes_validate.utils import latest_version, schema_contents
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from manifests.rendering import FOLDER

OLDEST, NEWEST = "1.31.0", latest_version()
"""The Kubernetes that the manifests are for: what the oldest knows and the newest has not given up."""


def mistakes(objects: Iterable[Mapping[str, Any]], kubernetes: str = OLDEST) -> Iterator[str]:
    """Return what the schemas of a version of Kubernetes, and of operators, refuse, a sentence a mistake."""
    for each in objects:
        name = f"{each['kind']} {each['metadata'].get('name')}"
        try:
            validator = _validator(kubernetes, each["apiVersion"], each["kind"])
        except FileNotFoundError:
            yield f"{name}: there is no schema of {each['apiVersion']} {each['kind']}."
            continue
        for error in validator.iter_errors(each):
            yield f"{name}: {'.'.join(map(str, error.absolute_path))}: {error.message}"


@cache
def _validator(kubernetes: str, api_version: str, kind: str) -> Draft202012Validator:
    ours = FOLDER / "schemas" / f"{kind}.json"
    if ours.exists():
        schema = json.loads(ours.read_text())
        if schema["properties"]["apiVersion"]["const"] == api_version:
            return Draft202012Validator(schema, registry=_definitions(kubernetes))
    group, _, version = api_version.rpartition("/")
    name = "-".join(part for part in (kind.lower(), group.partition(".")[0], version) if part)
    return Draft202012Validator(_contents(kubernetes, name), registry=_definitions(kubernetes))


@cache
def _definitions(kubernetes: str) -> Registry[Any]:
    definitions = Resource.from_contents(_contents(kubernetes, "_definitions"), DRAFT202012)
    empty: Registry[Any] = Registry()
    # Crawled once here: else each reference would look through all of Kubernetes again.
    whole: Registry[Any] = empty.with_resource("_definitions.json", definitions).crawl()
    return whole


def _contents(kubernetes: str, name: str) -> Any:
    return schema_contents(f"kubernetes-json-schema/v{kubernetes}-local-strict/{name}.json", kubernetes)

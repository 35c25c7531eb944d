"""Every example of the document that all services make is what its schema says."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from jsonschema_rs import Draft202012Validator, Registry


def examples(pointer: str, part: Any) -> Iterator[tuple[str, Any]]:
    """Yield the JSON pointer of its schema and the example, for all that are below `part`."""
    if isinstance(part, list):
        for number, one in enumerate(part):
            yield from examples(f"{pointer}/{number}", one)
    if not isinstance(part, dict):
        return
    # A schema has its own beside itself; parameters and media types have a schema and examples by name.
    schema = f"{pointer}/schema" if isinstance(part.get("schema"), dict) else pointer
    if "example" in part and not pointer.endswith("/properties"):  # there it is the name of one
        yield schema, part["example"]
    if isinstance(part.get("examples"), list):
        for example in part["examples"]:
            yield schema, example
    elif isinstance(part.get("examples"), dict) and all("value" in one for one in part["examples"].values()):
        for example in part["examples"].values():
            yield schema, example["value"]
    for name, one in part.items():
        if name not in {"example", "examples"} or not isinstance(one, list):
            yield from examples(f"{pointer}/{quote(name.replace('~', '~0').replace('/', '~1'), safe='~')}", one)


def test_every_example_fulfils_its_schema(document: dict[str, Any]) -> None:
    registry = Registry([("urn:openapi", document)])
    wrong, seen = [], 0
    for pointer, example in examples("", document):
        seen += 1
        schema = Draft202012Validator({"$ref": f"urn:openapi#{pointer}"}, registry=registry, validate_formats=True)
        wrong += [f"{pointer}: {error.message}" for error in schema.iter_errors(example)]
    assert wrong == []
    assert seen > 100


@pytest.mark.parametrize(
    "name",
    [
        "Requirement",
        "TestCase",
        "Link",
        "LinkedRequirement",
        "LinkedTestCase",
        "SuspectLink",
        "Suggestion",
        "Notification",
        "Run",
        "ModuleCoverage",
        "AxisItem",
        "ModuleMatrix",
        "CoverageDay",
        "AuditEntry",
        "Activity",
    ],
)
def test_what_people_read_first_has_an_example_with_every_member(document: dict[str, Any], name: str) -> None:
    schema = document["components"]["schemas"][name]
    for example in schema["examples"]:
        assert set(example) >= set(schema["required"])

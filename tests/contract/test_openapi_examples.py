"""Every example of the document that all services make is what its schema says."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

_FORMATS = jsonschema.Draft202012Validator.FORMAT_CHECKER


def examples(place: str, part: Any) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield where it is, its schema and the example, for all that are below `part`."""
    if isinstance(part, list):
        for number, one in enumerate(part):
            yield from examples(f"{place}/{number}", one)
    if not isinstance(part, dict):
        return
    # A schema has its own beside itself; parameters and media types have a schema and examples by name.
    schema = part["schema"] if isinstance(part.get("schema"), dict) else part
    if "example" in part:
        yield place, schema, part["example"]
    if isinstance(part.get("examples"), list):
        for example in part["examples"]:
            yield place, schema, example
    elif isinstance(part.get("examples"), dict) and all("value" in one for one in part["examples"].values()):
        for name, example in part["examples"].items():
            yield f"{place}/{name}", schema, example["value"]
    for name, one in part.items():
        if name not in {"example", "examples"} or not isinstance(one, list):
            yield from examples(f"{place}/{name}", one)


def test_every_example_fulfils_its_schema(document: dict[str, Any]) -> None:
    wrong, seen = [], 0
    for place, schema, example in examples("", document):
        seen += 1
        whole = {**schema, "components": document["components"]}
        errors = jsonschema.Draft202012Validator(whole, format_checker=_FORMATS).iter_errors(example)
        wrong += [f"{place}: {error.message}" for error in errors]
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

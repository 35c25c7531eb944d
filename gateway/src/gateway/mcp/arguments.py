"""Arguments of tools: strict, and each refusal says what would be right."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, ValidationError

from chassis.core.problems import Invalid
from chassis.web.validation import from_validation

Json = dict[str, Any]

PROJECT: Json = {"type": "string", "description": "The key of the project, such as DEMO; overview lists them."}
_DEEPEST = 20


class Arguments(BaseModel):
    """What a tool is called with; the project is not among it, since a tool is called within one."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, defer_build=True)


def validated(kind: type[Arguments], given: Mapping[str, Any]) -> Any:
    """Return the arguments of a call; raise Invalid, whose errors name each argument that is wrong."""
    _check_texts(given, 0)
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        entries = [{**entry, "loc": ("body", *entry["loc"])} for entry in error.errors()]
        raise from_validation(RequestValidationError(entries), body=kind) from None


@cache
def schema_of(kind: type[Arguments]) -> Json:
    """Return the JSON schema of a kind of arguments."""
    return {"properties": {}, **without_references(kind.model_json_schema())}


def without_references(schema: Json) -> Json:
    """Return a JSON schema that holds at each place what stood in its definitions: not every client follows them."""
    plain: Json = _plain(schema, schema.get("$defs", {}))
    return plain


def _plain(value: Any, definitions: Json) -> Any:
    if isinstance(value, list):
        return [_plain(one, definitions) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        value = {**definitions[value["$ref"].rpartition("/")[2]], **{k: v for k, v in value.items() if k != "$ref"}}
    plain = {}
    for name, one in value.items():
        if name == "title" and isinstance(one, str):  # made by pydantic of the name, and says no more than that
            continue
        if name == "properties":  # whose names are no words of the schema
            plain[name] = {key: _plain(of, definitions) for key, of in one.items()}
        elif name != "$defs":
            plain[name] = _plain(one, definitions)
    return plain


def _check_texts(value: Any, depth: int) -> None:
    """Raise Invalid for NUL, which nothing here stores, and for what is nested without end."""
    if depth > _DEEPEST:
        raise Invalid(f"The arguments are nested more than {_DEEPEST} deep.", code="invalid_arguments")
    if isinstance(value, str):
        if "\0" in value:
            raise Invalid("A text of the arguments has the character NUL; leave it out.", code="nul_character")
    elif isinstance(value, Mapping):
        for name, one in value.items():
            _check_texts(name, depth)
            _check_texts(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            _check_texts(one, depth + 1)

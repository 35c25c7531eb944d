"""Queries of lists as models: read without FastAPI's own way, which costs as much as the list's SQL."""

from collections.abc import Collection
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

Q = TypeVar("Q", bound=BaseModel)


def read_query(request: Request, model: type[Q]) -> Q:
    """Return the query of a request as `model`; raises RequestValidationError, which becomes a 422.

    The route has refused parameters that `documented` does not tell of.
    """
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise RequestValidationError(
            [{**entry, "loc": ("query", *entry["loc"])} for entry in error.errors(include_url=False)]
        ) from None


def documented(model: type[BaseModel], leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the `openapi_extra` of a route that reads its query as `model`, without the members `leave_out`."""
    document = model.model_json_schema()
    parameters = []
    for name, member in document["properties"].items():
        if name in leave_out:
            continue
        schema = _inlined(member, document.get("$defs", {}))
        parameter = {"name": name, "in": "query", "required": False, "schema": schema}
        if "description" in member:
            parameter["description"] = schema.pop("description")
        parameters.append(parameter)
    return {"parameters": parameters}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with what it refers to in it: the model's definitions are nowhere in the whole document."""
    if isinstance(schema, list):
        return [_inlined(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inlined = {key: _inlined(value, definitions) for key, value in schema.items() if key != "$ref"}
    if "$ref" in schema:
        return {**_inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions), **inlined}
    return inlined

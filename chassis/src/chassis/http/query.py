"""Queries of lists as models: read without FastAPI's own way, which costs as much as the list's SQL."""

from collections.abc import Collection
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

Q = TypeVar("Q", bound=BaseModel)


def read_query(request: Request, model: type[Q]) -> Q:
    """Give the query of a request as `model`; raises RequestValidationError, which becomes a 422.

    The route has refused parameters that `documented` does not tell of.
    """
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise RequestValidationError(
            [{**entry, "loc": ("query", *entry["loc"])} for entry in error.errors(include_url=False)]
        ) from None


def documented(model: type[BaseModel], leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Give the `openapi_extra` of a route that reads its query as `model`, without the members `leave_out`."""
    parameters = []
    for name, schema in model.model_json_schema()["properties"].items():
        if name in leave_out:
            continue
        parameter = {"name": name, "in": "query", "required": False, "schema": schema}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        parameters.append(parameter)
    return {"parameters": parameters}

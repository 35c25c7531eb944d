"""The OpenAPI document of a service: FastAPI's, with what FastAPI leaves out."""

from typing import Any

from fastapi import FastAPI
from fastapi._compat import get_definitions, get_flat_models_from_fields, get_model_name_map
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_fields_from_routes
from fastapi.routing import APIRoute
from starlette.types import ASGIApp

from chassis.core.identity import Role
from chassis.web.callers import role_of
from chassis.web.edge import Edge
from chassis.web.problem_documents import problem_responses


class DocumentedApp(FastAPI):
    """Keeps the null members of examples, which are as true as the others."""

    def openapi(self) -> dict[str, Any]:
        """Return the document."""
        if self.openapi_schema is None:
            document = super().openapi()
            schemas = document.get("components", {}).get("schemas", {})
            for name, defined in _definitions(self).items():
                if name in schemas:
                    _restore_examples(schemas[name], defined)
        assert self.openapi_schema is not None
        return self.openapi_schema

    def build_middleware_stack(self) -> ASGIApp:
        """Return what answers requests, from Edge on: no error gets past it to what FastAPI puts before it."""
        stack: Any = super().build_middleware_stack()
        while not isinstance(stack, Edge):
            stack = stack.app
        return stack


def describe(route: APIRoute) -> None:
    """Name the operation of a route, and add the errors that all of its kind have in common, and the role it needs."""
    needed = _role(route.dependant)
    usual = {None: (422, 503, 507), Role.VIEWER: (401, 422, 503, 507)}.get(needed, (401, 403, 422, 503, 507))
    route.operation_id = route.name
    route.responses = {**problem_responses(*usual), **route.responses}
    if needed not in {None, Role.VIEWER}:
        route.description = f"{route.description}\n\nNeeds the role `{needed}`.".strip()


def _role(dependant: Dependant) -> Role | None:
    """Return the role that whoever calls needs; None where anyone may."""
    found = (role_of(dependency.call) or _role(dependency) for dependency in dependant.dependencies)
    return next(filter(None, found), None)


def _definitions(app: FastAPI) -> dict[str, dict[str, Any]]:
    """Return the schemas of all models by name, as pydantic gives them."""
    fields = get_fields_from_routes(app.routes)
    names = get_model_name_map(get_flat_models_from_fields(fields, known_models=set()))
    return get_definitions(fields=fields, model_name_map=names)[1]


def _restore_examples(schema: dict[str, Any], defined: dict[str, Any]) -> None:
    for key, value in defined.items():
        if key == "examples" and isinstance(value, list):
            schema[key] = value
        elif isinstance(value, dict) and isinstance(schema.get(key), dict):
            _restore_examples(schema[key], value)

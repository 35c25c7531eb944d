"""The app factory: what the HTTP app of every service has in common."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from chassis.core import version
from chassis.core.internal_tokens import InternalVerifier
from chassis.core.problems import Forbidden, MethodNotAllowed, Problem
from chassis.db.database import Database, Db
from chassis.db.readiness import check_schema
from chassis.messaging import outbox, pruning
from chassis.observability import telemetry
from chassis.web.callers import ServiceCaller
from chassis.web.edge import Edge, as_problem
from chassis.web.rendering import render
from chassis.web.responses import answer
from chassis.web.service_document import DocumentedApp, describe
from chassis.web.strict_route import StrictRoute


class FeedConsumer(BaseModel):
    """Up to where a consumer has received the feed."""

    position: Annotated[int, Field(ge=0, lt=2**63)]


def create_app(
    title: str,
    routers: Sequence[APIRouter],
    *,
    database: Database,
    verifier: InternalVerifier,
    schema_version: str,
    state: Mapping[str, object] = MappingProxyType({}),
) -> FastAPI:
    """Return a service's HTTP app.

    It serves the routers, `/livez`, `/readyz` (503 until the database has `schema_version`),
    `/internal/changes` and `/internal/feed-consumers` for other services, and `/openapi.json` for the gateway.
    `state` is what the routers find in `request.app.state`.
    """
    known = {"database": database, "internal_verifier": verifier, **state}
    return app_of(title, [*routers, _probes(schema_version), _internal_routes()], known)


def probes(database: Database, schema_version: str) -> FastAPI:
    """Return an HTTP app that answers `/livez` and `/readyz` alone."""
    return app_of("probes", [_probes(schema_version)], {"database": database})


def app_of(title: str, routers: Sequence[APIRouter], state: Mapping[str, object] = MappingProxyType({})) -> FastAPI:
    """Return an HTTP app of these routers alone, with errors and a document as those of the services."""
    app = DocumentedApp(
        title=title,
        openapi_url=None,  # a route of the services, as the others are
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=telemetry.of_routes(),
    )
    for name, value in state.items():
        setattr(app.state, name, value)
    for router in routers:
        _add_routes(app, router)
    app.add_exception_handler(Problem, _render)
    app.add_exception_handler(RequestValidationError, _render)
    app.add_exception_handler(HTTPException, _render)
    app.add_middleware(Edge)
    return app


def _add_routes(app: FastAPI, router: APIRouter) -> None:
    """Put the routes of a router among the app's own.

    `include_router` would match each request twice, through every route before the right one: a tenth of the
    time of a small request.
    """
    for route in router.routes:
        if isinstance(route, APIRoute):
            describe(route)
        app.router.routes.append(route)


def _probes(schema_version: str) -> APIRouter:
    router = APIRouter(include_in_schema=False, route_class=StrictRoute)

    @router.get("/livez")
    async def livez() -> Response:
        return Response(b'{"status":"ok"}', media_type="application/json")

    @router.get("/readyz")
    async def readyz(database: Db) -> Response:
        async with database.connection() as connection:
            schema = await check_schema(connection, schema_version)
        # It reads on without room, so it is ready all the same.
        storage = "ok" if await database.has_room() else "full"
        return answer({"status": "ok", "software": version.software(), "schema": schema, "storage": storage})

    return router


def _internal_routes() -> APIRouter:
    router = APIRouter(include_in_schema=False, route_class=StrictRoute)

    @router.get("/openapi.json")
    async def openapi(request: Request) -> Response:
        return answer(request.app.openapi())

    @router.get("/internal/changes")
    async def changes(_: ServiceCaller, database: Db, after: int = 0, limit: int = 500) -> Response:
        return Response(await outbox.changes(database, after, min(limit, 2000)), media_type="application/json")

    @router.put("/internal/feed-consumers/{consumer}", status_code=204)
    async def put_consumer(caller: ServiceCaller, database: Db, consumer: str, received: FeedConsumer) -> None:
        if caller.email.removesuffix("-service") != consumer:
            raise Forbidden(f"{caller.email} may not say what {consumer} has received.")
        async with database.connection() as connection:
            await pruning.received(connection, consumer, received.position)

    return router


async def _render(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        return render(MethodNotAllowed(request.method, _methods(request)), request.scope)
    return render(as_problem(error), request.scope)


def _methods(request: Request) -> set[str]:
    """Return the methods of the address: Starlette names those of its first route alone."""
    routes = [route for route in request.app.routes if isinstance(route, APIRoute)]
    found = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return {method for route in found for method in route.methods or ()}

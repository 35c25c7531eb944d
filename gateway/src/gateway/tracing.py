"""The spans of the gateway: of each request, and of its call to a service. Without traces there are none to pay for."""

from opentelemetry.trace import SpanKind
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.core import request_context
from chassis.observability import telemetry
from gateway.routing.versions import route_of


def of_requests(app: ASGIApp) -> ASGIApp:
    """Return `app` with a span of each request, which begins a trace: callers do not decide what is recorded."""
    if telemetry.tracer() is None:
        return app

    async def traced(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in telemetry.PROBES:
            await app(scope, receive, send)
            return
        route = route_of(scope["path"])
        attributes = {"http.request.method": scope["method"], "url.path": scope["path"]}
        if route is not None:
            attributes["http.route"] = route
        sent = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"traceparent"), None)
        # By the route alone: what callers make up would give names without number.
        name = "HTTP" if route is None else f"{scope['method']} {route}"
        with telemetry.span(name, SpanKind.SERVER, attributes, root=True, sent=sent) as span:

            async def send_on(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute(telemetry.REQUEST_ID, request_context.request_id.get())
                    telemetry.answered(span, message["status"])
                await send(message)

            await app(scope, receive, send_on)

    return traced


def of_calls(name: str, service: ASGIApp) -> ASGIApp:
    """Return a service with a span of each call, to which its own belong."""
    if telemetry.tracer() is None:
        return service

    async def traced(scope: Scope, receive: Receive, send: Send) -> None:
        attributes = {"http.request.method": scope["method"], "server.address": name}
        with telemetry.span(f"{scope['method']} {name}", SpanKind.CLIENT, attributes) as span:

            async def send_on(message: Message) -> None:
                if message["type"] == "http.response.start":
                    telemetry.answered(span, message["status"], at_fault=400)
                await send(message)

            trace = [(name.encode(), value.encode()) for name, value in telemetry.headers().items()]
            await service({**scope, "headers": [*scope["headers"], *trace]}, receive, send_on)

    return traced

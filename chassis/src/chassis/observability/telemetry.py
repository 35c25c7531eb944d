"""Traces by OpenTelemetry, sent when OTEL_EXPORTER_OTLP_ENDPOINT says where to; without it nothing is recorded.

A trace begins at the gateway and goes on through calls, and through events (`event_spans`). Spans hold routes, ids
and kinds of errors, never an error's message or a body.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from fastapi.telemetry import TelemetryConfig

PROBES = frozenset({"/livez", "/readyz", "/healthz"})
"""Addresses that are asked all the time: they would fill logs and traces."""

REQUEST_ID = "traceline.request_id"
"""The attribute that holds what answers, log lines and events know a request by."""

_tracer: Tracer | None = None
_propagator = TraceContextTextMapPropagator()
_NOTHING = nullcontext()


def configure(program: str) -> None:
    """Record the traces of this process, as the standard variables OTEL_* say; its name is `traceline-PROGRAM`."""
    global _tracer
    if not _is_wanted():
        return
    # Who sends no traces need not load what sends them.
    from chassis.observability import trace_export

    trace_export.start(f"traceline-{program}")
    _tracer = trace.get_tracer("traceline")


def stop() -> None:
    """Send what was recorded and not sent yet; takes two seconds at most."""
    if _tracer is not None:
        from chassis.observability import trace_export

        trace_export.stop()


def _is_wanted() -> bool:
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return (
        any(os.environ.get(name) for name in endpoints)
        and os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "none"
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
    )


def tracer() -> Tracer | None:
    """Return what records; None when nothing is recorded."""
    return _tracer


def of_routes() -> "TelemetryConfig":
    """Return what a service's FastAPI app records by itself: a span a request, named by its route."""
    is_on = _tracer is not None
    return {"tracing": is_on, "metrics": False, "logs": False, "operation_spans": False, "exclude": _is_nobodys}


def _is_nobodys(scope: Any) -> bool:
    """Check whether a request comes from a probe or a loop of ours: such would be most of what is recorded."""
    path: str = scope["path"]
    if path.startswith("/internal/"):
        return all(name != b"traceparent" for name, _ in scope["headers"])
    return path in PROBES


def current() -> SpanContext | None:
    """Return the ids of the span that the running code works in."""
    if _tracer is None:
        return None
    context = trace.get_current_span().get_span_context()
    return context if context.is_valid else None


def traceparent() -> str | None:
    """Return the W3C `traceparent` of the span that the running code works in."""
    context = current()
    return None if context is None else written(context)


def written(context: SpanContext) -> str:
    """Write a span's ids as a W3C `traceparent`."""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


def read(sent: object) -> Context:
    """Read a `traceparent`; what is none gives a context without a span."""
    return _propagator.extract({"traceparent": sent}, Context()) if isinstance(sent, str) else Context()


def link(sent: object) -> list[Link]:
    """Return a link to the span of a `traceparent`, none for what is no such."""
    context = trace.get_current_span(read(sent)).get_span_context()
    return [Link(context)] if context.is_valid else []


@contextmanager
def span(
    name: str, kind: SpanKind, attributes: Mapping[str, Any], *, root: bool = False, sent: str | None = None
) -> Iterator[Span]:
    """Return a new span for what happens within; an error marks it and goes on. To be called when traces are on.

    With `root` it begins a trace of its own, linked to the `traceparent` that somebody outside has `sent`.
    """
    assert _tracer is not None, "asked for beforehand"
    context, links = (Context(), link(sent)) if root else (None, [])
    with _within(_tracer.start_span(name, context, kind, attributes, links)) as opened:
        yield opened


def going_on(name: str, sent: Sequence[str | None]) -> AbstractContextManager[Span | None]:
    """Return a span in the trace of the first `traceparent` there is, linked to the others; None without any."""
    known = list(dict.fromkeys(filter(None, sent)))
    if _tracer is None or not known:
        return _NOTHING
    links = [each for other in known[1:] for each in link(other)]
    return _within(_tracer.start_span(name, read(known[0]), links=links))


@contextmanager
def _within(opened: Span) -> Iterator[Span]:
    with (
        trace.use_span(opened, end_on_exit=True, record_exception=False, set_status_on_exception=False),
        marking(opened),
    ):
        yield opened


@contextmanager
def marking(opened: Span) -> Iterator[None]:
    """Mark the span by the kind of what is raised: messages may quote what somebody has sent."""
    try:
        yield
    except Exception as error:
        opened.set_attribute("error.type", type(error).__qualname__)
        opened.set_status(StatusCode.ERROR)
        raise


def calling(peer: str, method: str) -> AbstractContextManager[Span | None]:
    """Return the span of a call to another service, None outside of a trace: what loops ask begins none."""
    if current() is None:
        return _NOTHING
    return span(f"{method} {peer}", SpanKind.CLIENT, {"http.request.method": method, "server.address": peer})


def headers() -> dict[str, str]:
    """Return what a call to another service carries of the trace."""
    context = traceparent()
    return {} if context is None else {"traceparent": context}


def answered(opened: Span | None, status: int, *, at_fault: int = 500) -> None:
    """Note the status of an answer on a span, if there is one; `at_fault`: the first that is an error here."""
    if opened is None:
        return
    opened.set_attribute("http.response.status_code", status)
    if status >= at_fault:
        opened.set_attribute("error.type", str(status))
        opened.set_status(StatusCode.ERROR)

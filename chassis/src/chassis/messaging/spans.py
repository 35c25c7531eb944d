"""Traces through events: an event carries the `traceparent` of what recorded it, and its spans belong there.

The relay adds `publishtrace`, the context of its own span, to which that of the consumer is linked.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import orjson
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Tracer

from chassis.observability import telemetry

Feed = Sequence[tuple[str, bytes]]
"""Wire names and envelopes."""

_NOTHING = nullcontext()


def publishing(events: Feed) -> AbstractContextManager[Feed]:
    """Return a span for each event, and the events as they are to be published then."""
    tracer = telemetry.tracer()
    return nullcontext(events) if tracer is None else _publishing(tracer, events)


@contextmanager
def _publishing(tracer: Tracer, events: Feed) -> Iterator[Feed]:
    with ExitStack() as stack:
        traced = []
        for wire_name, envelope in events:
            span = _span(tracer, "publish", SpanKind.PRODUCER, orjson.loads(envelope), {})
            _end_with(stack, span)
            context = telemetry.written(span.get_span_context()).encode()
            traced.append((wire_name, b'{"publishtrace":"%b",%b' % (context, envelope[1:])))
        yield traced


def applying(queue: str, envelopes: Sequence[Mapping[str, Any]]) -> AbstractContextManager[None]:
    """Return a span for each event. What happens within, and what it leads to, belongs to the trace of the first."""
    tracer = telemetry.tracer()
    return _NOTHING if tracer is None else _applying(tracer, queue, envelopes)


@contextmanager
def _applying(tracer: Tracer, queue: str, envelopes: Sequence[Mapping[str, Any]]) -> Iterator[None]:
    with ExitStack() as stack:
        where = {"messaging.destination.name": queue}
        spans = [_span(tracer, "process", SpanKind.CONSUMER, envelope, where) for envelope in envelopes]
        for span in spans:
            _end_with(stack, span)
        stack.enter_context(trace.use_span(spans[0], record_exception=False, set_status_on_exception=False))
        yield


def _span(tracer: Tracer, doing: str, kind: SpanKind, envelope: Mapping[str, Any], where: Mapping[str, str]) -> Span:
    return tracer.start_span(
        f"{doing} {envelope['type']}",
        telemetry.read(envelope.get("traceparent")),
        kind,
        {
            "messaging.operation.name": doing,
            "messaging.message.id": str(envelope["id"]),
            telemetry.REQUEST_ID: str(envelope.get("correlationid", "")),
            **where,
        },
        telemetry.link(envelope.get("publishtrace")),
    )


def _end_with(stack: ExitStack, span: Span) -> None:
    stack.callback(span.end)
    stack.enter_context(telemetry.marking(span))

"""Sends traces over OTLP from a thread of its own; who cannot be reached costs traces, never a request."""

import logging
import threading
from collections.abc import Sequence

from opentelemetry import propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_log = logging.getLogger(__name__)
_FLUSH_WITHIN = 2.0
"""Seconds at the end of the program in which what is left may be sent."""

# They would tell of every try; what matters of it is told here.
for _library in ("opentelemetry.exporter", "opentelemetry.sdk._shared_internal"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)


class _Exporter(OTLPSpanExporter):
    """Says when traces begin to be lost, and when they are sent again."""

    _is_away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        is_away = result is not SpanExportResult.SUCCESS
        if is_away and not self._is_away:
            _log.warning("Traces are lost: what OTEL_EXPORTER_OTLP_ENDPOINT names does not take them.")
        elif self._is_away and not is_away:
            _log.info("Traces are sent again.")
        self._is_away = is_away
        return result


def start(service_name: str) -> None:
    """Record and send from now on; the environment may give the service another name."""
    resource = Resource.create({SERVICE_NAME: service_name}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_Exporter()))
    trace.set_tracer_provider(provider)
    # What goes from service to service is ours, whatever a caller outside may send along.
    propagate.set_global_textmap(TraceContextTextMapPropagator())


def stop() -> None:
    """Send what is left, and stop; return after two seconds at most."""
    provider = trace.get_tracer_provider()
    if isinstance(provider, TracerProvider):
        # The library has no time limit of its own here; the thread ends with the program.
        ending = threading.Thread(target=provider.shutdown, daemon=True)
        ending.start()
        ending.join(_FLUSH_WITHIN)

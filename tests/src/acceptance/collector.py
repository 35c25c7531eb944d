"""A collector of traces: takes what programs send over OTLP, as Jaeger or Tempo do, and keeps it in memory."""

from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from acceptance.threaded_server import Quiet, ThreadedServer

_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class Span:
    """A span as it was sent; ids in hexadecimal, `parent` empty for the first of a trace, `links` the spans linked."""

    program: str
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    links: tuple[str, ...]
    is_error: bool
    attributes: dict[str, Any]


class Collector(ThreadedServer):
    """Listens inside the block."""

    def __init__(self) -> None:
        self._spans: deque[Span] = deque(maxlen=_KEPT)
        collector = self

        class Handler(Quiet, BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.take(ExportTraceServiceRequest.FromString(body))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        super().__init__(Handler)

    @property
    def settings(self) -> dict[str, str]:
        """What a program is given so that it sends its traces here, soon."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.address, "OTEL_BSP_SCHEDULE_DELAY": "200"}

    @property
    def spans(self) -> list[Span]:
        """What has come so far."""
        return list(self._spans)

    def of_trace(self, trace: str) -> list[Span]:
        """What has come so far of one trace."""
        return [span for span in self.spans if span.trace == trace]

    def take(self, sent: ExportTraceServiceRequest) -> None:
        """Keep spans."""
        for group in sent.resource_spans:
            program = _values(group.resource.attributes)["service.name"]
            self._spans.extend(_span(program, span) for scope in group.scope_spans for span in scope.spans)


def _span(program: str, sent: SentSpan) -> Span:
    return Span(
        program,
        sent.name,
        SentSpan.SpanKind.Name(sent.kind).removeprefix("SPAN_KIND_"),
        sent.trace_id.hex(),
        sent.span_id.hex(),
        sent.parent_span_id.hex(),
        tuple(link.span_id.hex() for link in sent.links),
        sent.status.code == Status.STATUS_CODE_ERROR,
        _values(sent.attributes),
    )


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}

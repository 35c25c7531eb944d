"""The gateway begins a trace for each request, whatever a caller says, and services go on with it."""

from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from stand_ins import running_gateway, telling_app

from chassis.observability import telemetry
from gateway import tracing

OUTSIDE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Traces are recorded, into this."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("test"))
    return exporter


async def get(path: str, **headers: str) -> Any:
    """Ask a service through both spans."""
    app = tracing.of_requests(tracing.of_calls("catalog-service", telling_app()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as client:
        return (await client.get(path, headers=headers)).json()


async def test_a_request_begins_a_trace_that_the_service_goes_on_with(exporter: InMemorySpanExporter) -> None:
    told = await get("/api/v1/requirements/7")
    call, request = exporter.get_finished_spans()
    assert request.name == "GET /api/v1/requirements"
    assert (request.kind, call.kind) == (SpanKind.SERVER, SpanKind.CLIENT)
    assert call.parent == request.get_span_context()
    assert ["traceparent", telemetry.written(call.get_span_context())] in told["headers"]


async def test_a_callers_trace_is_linked_and_not_continued(exporter: InMemorySpanExporter) -> None:
    await get("/api/v1/requirements", traceparent=OUTSIDE.removesuffix("01") + "00")
    _, request = exporter.get_finished_spans()
    assert request.parent is None
    [link] = request.links
    assert f"{link.context.trace_id:032x}" in OUTSIDE
    assert request.get_span_context().trace_id != link.context.trace_id
    assert request.get_span_context().trace_flags.sampled, "nobody outside decides what is recorded"


@pytest.mark.parametrize("sent", ["nonsense", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "ff" + OUTSIDE[2:], "é" * 999])
async def test_a_callers_trace_that_is_none_is_passed_over(exporter: InMemorySpanExporter, sent: str) -> None:
    app = tracing.of_requests(telling_app())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as client:
        response = await client.get("/api/v1/links", headers={b"traceparent": sent.encode()})
    assert response.status_code == 200
    [request] = exporter.get_finished_spans()
    assert list(request.links) == []


async def test_what_fails_marks_its_spans(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(RuntimeError):
        await get("/api/v1/requirements/crash")
    for span in exporter.get_finished_spans():
        assert span.status.status_code == StatusCode.ERROR
        assert "secret detail" not in span.to_json()


async def test_probes_are_not_recorded(exporter: InMemorySpanExporter) -> None:
    await get("/readyz")
    assert [span.kind for span in exporter.get_finished_spans()] == [SpanKind.CLIENT]


async def test_without_traces_a_callers_trace_ends_here() -> None:
    async with running_gateway(deployed=False) as running:
        response = await running.get(
            "/api/v1/requirements", running.issuer.token(), headers={"traceparent": OUTSIDE, "tracestate": "a=b"}
        )
    names = {name for name, _ in response.json()["headers"]}
    assert not names & {"traceparent", "tracestate"}
    assert tracing.of_calls("catalog-service", running.gateway) is running.gateway, "and it costs nothing"

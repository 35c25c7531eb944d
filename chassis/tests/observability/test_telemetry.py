"""Traces go on through calls and events, quote nothing, and cost nobody anything when their collector is away."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import orjson
import pytest
from happenings import Happened
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chassis.db.database import Connection, Database
from chassis.messaging import outbox
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.events import SYSTEM, NewEvent, Received
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from chassis.messaging.relay import Relay
from chassis.observability import telemetry
from chassis.web.peers import Peer
from testing.internal import FOLLOWER, SIGNERS

SECRET = "correct horse battery staple"


class Followed(Payload):
    wire_name = "test.thing.followed"


Spans = Callable[..., list[ReadableSpan]]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Spans:
    """Traces are recorded; gives what has ended, by how its name begins."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("test"))
    return lambda begin="": [span for span in exporter.get_finished_spans() if span.name.startswith(begin)]


async def happens(database: Database, *whats: str) -> None:
    """Each in a request, and a trace, of its own."""
    for what in whats:
        with telemetry.span("request", SpanKind.SERVER, {}, root=True):
            async with database.transaction() as connection:
                await outbox.record(connection, [NewEvent(Happened(what=what), "1", SYSTEM)])


async def publish(database: Database, inbox: Inbox) -> None:
    bus = InProcessBus()
    bus.subscribe(inbox.queue, inbox.sources, inbox.receive)
    await bus.start()
    await Relay(database, bus).publish_waiting()
    await bus.stop()


async def ignore(connection: Connection, events: list[Received[Any]]) -> None: ...


def inbox_of(database: Database, handler: Any) -> Inbox:
    return Inbox("test", database, {Happened: handler}, ignored=[Followed])


def trace_of(span: ReadableSpan) -> int:
    return span.get_span_context().trace_id


async def envelopes(database: Database) -> list[dict[str, Any]]:
    await outbox.number(database)
    return [orjson.loads(envelope) for _, envelope in (await outbox.read(database, 0, 100)).events]


async def test_an_event_goes_on_with_the_trace_of_its_request_and_the_consumer_is_linked_to_the_publishing(
    database: Database, other_database: Database, spans: Spans
) -> None:
    await happens(database, "a")
    await publish(database, inbox_of(other_database, ignore))

    [request], [published], [processed] = spans("request"), spans("publish"), spans("process")
    assert trace_of(request) == trace_of(published) == trace_of(processed)
    for span in (published, processed):
        assert span.parent is not None
        assert span.parent.span_id == request.get_span_context().span_id
    assert [link.context.span_id for link in processed.links] == [published.get_span_context().span_id]
    assert (published.kind, processed.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    [envelope] = await envelopes(database)
    assert "publishtrace" not in envelope, "the feed tells what was recorded"


async def test_each_event_of_a_batch_has_its_span_in_the_trace_of_its_own_request(
    database: Database, other_database: Database, spans: Spans
) -> None:
    await happens(database, "a", "b", "c")
    await publish(database, inbox_of(other_database, ignore))

    requests = [trace_of(span) for span in spans("request")]
    assert len(set(requests)) == 3
    assert sorted(trace_of(span) for span in spans("process")) == sorted(requests)
    assert sorted(trace_of(span) for span in spans("publish")) == sorted(requests)


async def test_an_event_that_a_handler_records_belongs_to_the_trace_that_led_to_it(
    database: Database, other_database: Database, spans: Spans
) -> None:
    async def follow(connection: Connection, events: list[Received[Happened]]) -> None:
        await outbox.record(connection, [NewEvent(Followed(), "1", SYSTEM) for _ in events])

    await happens(database, "a")
    await publish(database, inbox_of(other_database, follow))

    [processed], [followed] = spans("process"), await envelopes(other_database)
    assert followed["traceparent"] == telemetry.written(processed.get_span_context())


async def test_a_failure_marks_the_span_without_its_message(
    database: Database, other_database: Database, spans: Spans
) -> None:
    async def fail(connection: Connection, events: list[Received[Happened]]) -> None:
        raise RuntimeError(SECRET)

    await happens(database, "a")
    await publish(database, inbox_of(other_database, fail))

    [processed] = spans("process")
    assert processed.status.status_code == StatusCode.ERROR
    assert processed.attributes is not None
    assert processed.attributes["error.type"] == "RuntimeError"
    assert SECRET not in "".join(span.to_json() for span in spans())


@pytest.mark.parametrize("traceparent", [None, 7, "", "00-0-0-00", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
async def test_an_event_whose_traceparent_is_none_begins_a_trace(
    database: Database, other_database: Database, spans: Spans, traceparent: Any
) -> None:
    async with database.transaction() as connection:
        await outbox.record(connection, [NewEvent(Happened(what="a"), "1", SYSTEM, traceparent=traceparent)])
    await publish(database, inbox_of(other_database, ignore))

    [processed] = spans("process")
    assert processed.parent is None
    assert processed.status.status_code == StatusCode.UNSET


async def test_without_traces_an_event_tells_of_none(database: Database) -> None:
    async with database.transaction() as connection:
        await outbox.record(connection, [NewEvent(Happened(what="a"), "1", SYSTEM)])
    [envelope] = await envelopes(database)
    assert "traceparent" not in envelope


async def test_a_call_to_another_service_carries_the_trace_and_what_a_loop_asks_begins_none(spans: Spans) -> None:
    received: list[dict[bytes, bytes]] = []

    async def other(scope: Scope, receive: Receive, send: Send) -> None:
        received.append(dict(scope["headers"]))
        await Response(status_code=404)(scope, receive, send)

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=other), base_url="http://other") as client:
        peer = Peer("other-service", client, SIGNERS[FOLLOWER])
        with telemetry.span("request", SpanKind.SERVER, {}, root=True):
            await peer.get("/thing")
        await peer.get("/internal/changes")

    [called] = spans("GET other-service")
    assert received[0][b"traceparent"].decode() == telemetry.written(called.get_span_context())
    assert b"traceparent" not in received[1]
    assert called.attributes is not None
    assert called.attributes["http.response.status_code"] == 404


PROGRAM = """
from opentelemetry import trace
from opentelemetry.trace import SpanKind
from chassis.observability import logs, telemetry
logs.configure("test")
telemetry.configure("test")
for _ in range(3):
    with telemetry.span("request", SpanKind.SERVER, {}):
        pass
    trace.get_tracer_provider().force_flush()
with telemetry.span("request", SpanKind.SERVER, {}):
    pass
telemetry.stop()
"""


def run(**settings: str) -> list[dict[str, Any]]:
    """Return the log of a program that records four spans."""
    environment = {"PATH": os.environ["PATH"], **settings}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=600, check=True
    )
    return [orjson.loads(line) for line in done.stderr.splitlines()]


def test_a_collector_that_is_away_is_told_once() -> None:
    [line] = run(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1", OTEL_EXPORTER_OTLP_TIMEOUT="0.2")
    assert "Traces are lost" in line["message"]


def test_an_endpoint_that_is_no_address_is_told_once() -> None:
    [line] = run(OTEL_EXPORTER_OTLP_ENDPOINT=f"collector of {SECRET}")
    assert "Traces are lost" in line["message"]
    assert SECRET not in str(line)


def test_a_collector_that_says_nothing_does_not_hold_up_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        program = PROGRAM.replace("    trace.get_tracer_provider().force_flush()\n", "")
        environment = {
            "PATH": os.environ["PATH"],
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "OTEL_EXPORTER_OTLP_TIMEOUT": "600",
        }
        subprocess.run([sys.executable, "-c", program], env=environment, timeout=600, check=True)


@pytest.mark.parametrize("off", [{}, {"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_SDK_DISABLED": "true"}])
def test_what_sends_traces_is_loaded_only_when_it_is_wanted(off: dict[str, str]) -> None:
    program = (
        "import sys, chassis.server.process; from chassis.observability import telemetry; telemetry.configure('test');"
        "telemetry.stop(); print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    where = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"} if off else {}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": os.environ["PATH"], **where, **off},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_work_for_several_traces_belongs_to_the_first_and_is_linked_to_the_others(spans: Spans) -> None:
    sent = []
    for _ in range(3):
        with telemetry.span("request", SpanKind.SERVER, {}, root=True):
            sent.append(telemetry.traceparent())
    with telemetry.going_on("work", [None, sent[1], sent[0], sent[1], "no trace", sent[2]]):
        inside = telemetry.traceparent()
    with telemetry.going_on("nobody's work", [None]):
        assert telemetry.traceparent() is None
    (work,) = spans("work")
    requests = [span.context for span in spans("request")]
    assert work.parent is not None
    assert (work.parent.trace_id, work.parent.span_id) == (requests[1].trace_id, requests[1].span_id)
    assert [each.context.span_id for each in work.links] == [requests[0].span_id, requests[2].span_id]
    assert inside == telemetry.written(work.context)
    assert not spans("nobody's")

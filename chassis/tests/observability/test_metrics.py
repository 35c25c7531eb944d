"""What is measured can be read, stays few series, and tells the truth while the database is away."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable

import httpx
import psycopg
import pytest
from fastapi import APIRouter, FastAPI
from happenings import Happened, apply, record
from prometheus_client import REGISTRY, Metric
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chassis.db.database import Database
from chassis.messaging import outbox
from chassis.messaging.bus.in_process import InProcessBus
from chassis.messaging.feed import Feed
from chassis.messaging.inbox import Inbox
from chassis.messaging.metrics import of_feed, of_inbox
from chassis.messaging.relay import Relay
from chassis.observability.collectors import GaugeCollector, GaugeCollectors, gauge
from chassis.observability.databases import of_database, of_pool
from chassis.observability.requests import Measured
from chassis.server import exposition
from chassis.server.app import create_app
from chassis.server.http_server import listen
from chassis.web.peers import Peer
from testing import PostgresServer
from testing.internal import FOLLOWER, SIGNERS, trusting
from testing.metrics import Series, read
from testing.metrics import measured as measured_by

router = APIRouter(prefix="/api/v1")


@router.get("/things/{thing_id}")
async def read_thing(thing_id: int) -> dict[str, int]:
    return {"id": thing_id}


@router.get("/broken")
async def broken() -> None:
    raise RuntimeError("never told")


@router.get("/breaks-off")
async def break_off() -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        yield b"a part"
        raise RuntimeError("never told")

    return StreamingResponse(parts())


@pytest.fixture
def app(database: Database) -> FastAPI:
    return create_app("test", [router], database=database, verifier=trusting(), schema_version="none")


@pytest.fixture
def measured(app: FastAPI, request: pytest.FixtureRequest) -> ASGIApp:
    """The app as a program of this test's own name, so that its series begin at nothing."""
    return Measured(app, program=request.node.name)


def requests(program: str) -> dict[tuple[str, str, str], float]:
    """How many requests of a program there were, by method, route and status."""
    return {
        (sample.labels["method"], sample.labels["route"], sample.labels["status"]): sample.value
        for metric in REGISTRY.collect()
        if metric.name == "traceline_http_requests"
        for sample in metric.samples
        if sample.labels["program"] == program
    }


async def call(app: ASGIApp, method: str, *paths: str) -> None:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        for path in paths:
            await client.request(method, path)


async def test_requests_are_counted_by_the_template_of_their_route(
    measured: ASGIApp, request: pytest.FixtureRequest
) -> None:
    await call(measured, "GET", *(f"/api/v1/things/{number}" for number in range(20)), "/api/v1/things/none")
    assert requests(request.node.name) == {
        ("GET", "/api/v1/things/{thing_id}", "200"): 20,
        ("GET", "/api/v1/things/{thing_id}", "422"): 1,
    }


async def test_unknown_addresses_and_methods_make_no_series_of_their_own(
    measured: ASGIApp, request: pytest.FixtureRequest
) -> None:
    await call(measured, "GET", "/one", "/two", "/api/v1/three")
    await call(measured, "BREW", "/api/v1/things/1", "/four")
    await call(measured, "STEEP", "/api/v1/things/1")
    assert requests(request.node.name) == {
        ("GET", "other", "404"): 3,
        ("other", "other", "404"): 1,
        ("other", "/api/v1/things/{thing_id}", "405"): 2,
    }


async def test_what_fails_counts_as_an_error_even_when_the_answer_had_begun_well(
    measured: ASGIApp, request: pytest.FixtureRequest
) -> None:
    await call(measured, "GET", "/api/v1/broken", "/api/v1/breaks-off")
    assert requests(request.node.name) == {
        ("GET", "/api/v1/broken", "500"): 1,
        ("GET", "/api/v1/breaks-off", "500"): 1,
    }


async def test_a_caller_who_goes_away_is_no_error_of_ours(request: pytest.FixtureRequest) -> None:
    async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a part", "more_body": True})
        assert (await receive())["type"] == "http.disconnect"

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def nobody(_: Message) -> None: ...

    await Measured(streaming, request.node.name)({"type": "http", "method": "GET"}, gone, nobody)
    assert requests(request.node.name) == {("GET", "other", "499"): 1}


async def test_the_time_of_a_streamed_answer_goes_to_its_end(request: pytest.FixtureRequest) -> None:
    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(0.06)
        await send({"type": "http.response.body", "body": b""})

    async def nothing() -> Message:
        raise AssertionError("nobody asks")

    async def nobody(_: Message) -> None: ...

    await Measured(slow, request.node.name)({"type": "http", "method": "GET"}, nothing, nobody)
    labels = {"program": request.node.name, "method": "GET", "route": "other"}
    seconds = REGISTRY.get_sample_value("traceline_http_request_duration_seconds_sum", labels)
    assert seconds is not None
    assert seconds >= 0.05


async def test_metrics_are_all_that_their_port_answers() -> None:
    listener: socket.socket = listen("127.0.0.1", 0, "nothing")
    url = "http://{}:{}".format(*listener.getsockname())
    async with httpx.AsyncClient() as client:
        async with exposition.served(listener, GaugeCollectors()):
            response = await client.get(f"{url}/metrics")
            assert response.headers["content-type"].startswith("text/plain; version=")
            assert read(response.text)["process_start_time_seconds"] > 0
            assert (await client.post(f"{url}/metrics")).status_code == 405
            assert {(await client.get(url + path)).status_code for path in ("/", "/livez", "/openapi.json")} == {404}
        with pytest.raises(httpx.TransportError):
            await client.get(f"{url}/metrics")


def series(name: str, database: Database) -> str:
    return f'{name}{{database="{database.name}"}}'


def followed(source: Database, target: Database, transport: httpx.AsyncBaseTransport) -> tuple[Inbox, Feed]:
    """An inbox in `target` that follows what is recorded in `source`, which answers over `transport`."""
    inbox = Inbox("follower", target, {Happened: apply})
    client = httpx.AsyncClient(transport=transport, base_url="http://source")
    return inbox, Feed("test", Peer("service", client, SIGNERS[FOLLOWER]), inbox)


def kept(values: Series) -> tuple[float, float]:
    """How many events wait to be tried again, and how many are parked."""
    of = '{consumer="follower"}'
    return values[f"traceline_inbox_failures{of}"], values[f"traceline_inbox_parked{of}"]


async def test_an_event_shows_from_the_outbox_to_the_inbox(
    database: Database, other_database: Database, app: FastAPI
) -> None:
    inbox, feed = followed(database, other_database, httpx.ASGITransport(app))
    await record(database, "one", "two", "poison")
    before = await measured_by(of_feed("test", database), of_inbox(inbox, [feed]))
    assert before['traceline_feed_published{source="test"}'] == 0
    assert before['traceline_outbox_oldest_unpublished_seconds{source="test"}'] > 0
    assert before['traceline_consumer_lag{consumer="follower",source="test"}'] == 3

    bus = InProcessBus()
    bus.subscribe("follower", inbox.sources, inbox.receive)
    await bus.start()
    await Relay(database, bus).publish_waiting()
    await inbox.receive([envelope for _, envelope in (await outbox.read(database, 0, 2)).events])
    await bus.stop()
    after = await measured_by(of_feed("test", database), of_inbox(inbox, [feed]))
    assert after['traceline_feed_head{source="test"}'] == after['traceline_feed_published{source="test"}'] == 3
    assert after['traceline_outbox_oldest_unpublished_seconds{source="test"}'] == 0
    assert after['traceline_consumer_applied{consumer="follower",source="test"}'] == 3
    assert after['traceline_consumer_lag{consumer="follower",source="test"}'] == 0
    assert kept(after) == (1, 0)
    counted = ('traceline_inbox_duplicates_total{consumer="follower"}', "traceline_publish_duration_seconds_count")
    assert [after[name] - before[name] for name in counted] == [2, 1]


async def test_a_parked_event_shows_until_somebody_mends_it(database: Database) -> None:
    inbox, _ = followed(database, database, httpx.MockTransport(lambda _: httpx.Response(503)))
    await inbox.receive([b"no event"])
    assert kept(await measured_by(of_inbox(inbox, []))) == (0, 1)


async def test_a_source_that_is_away_hides_only_how_far_one_is_behind_it(database: Database) -> None:
    inbox, feed = followed(database, database, httpx.MockTransport(lambda _: httpx.Response(503)))
    values = await measured_by(of_inbox(inbox, [feed]))
    assert values['traceline_consumer_applied{consumer="follower",source="test"}'] == 0
    assert 'traceline_consumer_lag{consumer="follower",source="test"}' not in values


async def test_a_database_that_is_away_is_told_and_hides_nothing_else(postgres: PostgresServer) -> None:
    url = postgres.empty_database()
    database = Database(url)
    await database.open()
    values = await measured_by(of_database(database))
    assert values[series("traceline_database_up", database)] == 1

    with psycopg.connect(postgres.empty_database(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {database.name} WITH (FORCE)")
    values = await measured_by(of_feed("away", database), of_database(database), of_pool(database))
    await database.close()
    assert values[series("traceline_database_up", database)] == 0
    assert values[series("traceline_database_pool_size", database)] == 8
    assert values["process_start_time_seconds"] > 0
    assert 'traceline_feed_head{source="away"}' not in values


async def test_who_waits_for_a_connection_is_seen(postgres: PostgresServer) -> None:
    database = Database(postgres.empty_database(), pool_size=2)
    await database.open()

    async def use() -> None:
        async with database.connection():
            await free.wait()

    free = asyncio.Event()
    users = [asyncio.create_task(use()) for _ in range(3)]
    async with asyncio.timeout(120):
        while database.use().waiting == 0:  # noqa: ASYNC110 - this is what is measured
            await asyncio.sleep(0.01)
    busy = await measured_by(of_pool(database))
    users[2].cancel()
    free.set()
    await asyncio.gather(*users, return_exceptions=True)
    idle = await measured_by(of_pool(database))
    await database.close()
    names = [series(f"traceline_database_pool_{what}", database) for what in ("size", "available", "waiting")]
    assert [[values[name] for name in names] for values in (busy, idle)] == [[2, 0, 1], [2, 2, 0]]


async def test_many_who_ask_have_the_database_read_once() -> None:
    reads = 0

    async def count() -> Iterable[Metric]:
        nonlocal reads
        reads += 1
        await asyncio.sleep(0.01)
        return [gauge("traceline_test_reads", "How often.", (), [((), reads)])]

    collectors = GaugeCollectors([GaugeCollector(count)])
    told = await asyncio.gather(*(collectors.get() for _ in range(10)))
    assert [metric.samples[0].value for (metric,) in told] == [1] * 10


async def test_a_reading_that_fails_hides_no_other_and_gauges_of_one_name_are_one_metric() -> None:
    async def fail() -> Iterable[Metric]:
        raise RuntimeError("a defect")

    def collector(label: str) -> GaugeCollector:
        async def tell() -> Iterable[Metric]:
            return [gauge("traceline_test_parts", "Parts.", ("of",), [((label,), 1)])]

        return GaugeCollector(tell)

    collectors = GaugeCollectors([collector("one"), GaugeCollector(fail), collector("two")])
    (metric,) = await collectors.get()
    assert [sample.labels for sample in metric.samples] == [{"of": "one"}, {"of": "two"}]

"""A log line is one line of JSON whatever is logged, says what it belongs to, and quotes nobody's secrets."""

import asyncio
import gc
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import APIRouter, Response
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind
from pydantic import BaseModel

from chassis.core import request_context
from chassis.core.identity import Identity, Role
from chassis.db.database import Connection, Database, Db
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent, Received
from chassis.messaging.inbox import Inbox
from chassis.messaging.payloads import Payload
from chassis.observability import telemetry
from chassis.observability.logs import JsonFormatter, LogFile, log_unretrieved
from chassis.server.app import create_app
from chassis.web.callers import Viewer
from chassis.web.strict_route import StrictRoute
from testing.internal import token, trusting
from testing.postgres import as_owner

SECRET = "correct horse battery staple"
_log = logging.getLogger("test")


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter("test-program"))
        self.written: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.written.append(self.format(record))

    @property
    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written]


@pytest.fixture
def lines() -> Iterator[_Lines]:
    """What is logged while a test runs."""
    handler, root = _Lines(), logging.getLogger()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


@pytest.mark.parametrize(
    "text",
    [
        "two\r\nlines\n{}",
        "nul \0 bell \a backspace \b",
        "\x1b[2J\x1b]0;a title\x07 and \x9b31m, \x7f",
        "next line \x85, separators \u2028 \u2029",
        "right to left \u202e and a mark \u200f",
        'quotes " and \\',
        "half a character \ud800 and the other half \udfff",
        "whole ones: \u00e9 \u6f22 \U0001f600",
    ],
)
def test_any_text_is_one_printable_line_that_reads_back_as_it_was(text: str) -> None:
    # A logger of its own: pytest could not pass half a character on from a process that shares the suite.
    log, lines = logging.Logger("test"), _Lines()
    log.addHandler(lines)
    log.warning("said %s", text)
    log.warning(text)
    try:
        raise RuntimeError(text)
    except RuntimeError:
        log.exception("failed")

    assert all(line.isascii() and line.isprintable() for line in lines.written)
    first, second, third = lines.read
    assert (first["message"], second["message"]) == (f"said {text}", text)
    assert third["exception"].endswith(f"RuntimeError: {text}")


def test_a_line_says_which_program_request_actor_event_and_trace_it_belongs_to(
    lines: _Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    _log.warning("alone")
    monkeypatch.setattr(telemetry, "_tracer", TracerProvider(shutdown_on_exit=False).get_tracer("test"))
    with (
        request_context.of_event("e-1", request="r-1", gateway_request="g-1", actor=7),
        telemetry.span("request", SpanKind.SERVER, {}) as span,
    ):
        _log.warning("within")

    alone, within = lines.read
    assert alone.keys() == {"time", "level", "program", "logger", "message"}
    assert (alone["program"], alone["level"], alone["logger"]) == ("test-program", "warning", "test")
    assert (within["event_id"], within["request_id"], within["actor"]) == ("e-1", "r-1", 7)
    assert within["gateway_request_id"] == "g-1"
    context = span.get_span_context()
    assert (within["trace_id"], within["span_id"]) == (f"{context.trace_id:032x}", f"{context.span_id:016x}")


def test_an_error_is_told_with_its_tracebacks_and_what_it_came_from(lines: _Lines) -> None:
    def fail() -> None:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise RuntimeError("second") from error

    try:
        fail()
    except RuntimeError:
        _log.exception("failed")
    [line] = lines.read
    assert line["exception"].count("in fail") == 2
    assert line["exception"].index("KeyError: 'first'") < line["exception"].index("RuntimeError: second")


def test_errors_that_came_from_one_another_in_a_circle_are_told_once(lines: _Lines) -> None:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    _log.warning("failed", exc_info=first)
    [line] = lines.read
    assert line["exception"].count("RuntimeError") == 2


class Account(BaseModel):
    name: str
    password: str
    age: int = 0


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("INSERT INTO accounts (name, password) VALUES ('a', %(text)s), ('a', %(text)s)", "accounts_password_key"),
        ("INSERT INTO accounts (password) VALUES (%(text)s)", "column"),
        ("INSERT INTO accounts (name, password) VALUES ('', %(text)s)", "accounts_name_check"),
        ("SELECT %(text)s::uuid", "22P02"),
        ("SELECT %(text)s::text::timestamptz", "22007"),
        ("SELECT to_number('1' || %(text)s, %(text)s) + 'x'::int", "22P02"),
        ("SELECT nothing FROM accounts WHERE password = %(text)s", "nothing"),
    ],
)
async def test_an_error_of_the_database_names_what_was_hurt_and_not_the_values(
    database: Database, lines: _Lines, sql: str, shown: str
) -> None:
    async with as_owner(database) as connection:
        await connection.execute("CREATE TABLE accounts (name text NOT NULL CHECK (name <> ''), password text UNIQUE)")
        with pytest.raises(psycopg.Error) as raised:
            await connection.execute(sql, {"text": SECRET})
    _log.warning("It failed: %s", raised.value, exc_info=raised.value)
    [line] = lines.read
    assert SECRET not in lines.written[0]
    assert shown in line["message"]
    assert shown in line["exception"]


def test_an_error_of_a_model_names_the_field_and_not_the_value(lines: _Lines) -> None:
    try:
        Account.model_validate({"name": "a", "password": [SECRET], "age": SECRET})
    except ValueError as error:
        _log.exception("It failed: %s", error)
    [line] = lines.read
    assert SECRET not in lines.written[0]
    assert "password: Input should be a valid string" in line["message"]
    assert "age: " in line["exception"]


async def test_an_error_that_nobody_awaits_is_told_without_its_values(lines: _Lines) -> None:
    async def fail() -> None:
        Account.model_validate({"name": "a", "password": [SECRET]})

    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(log_unretrieved)
    try:
        task = asyncio.create_task(fail())
        await asyncio.wait({task})
        del task
        gc.collect()
    finally:
        loop.set_exception_handler(before)
    [line] = lines.read
    assert line["message"] == "Task exception was never retrieved"
    assert "password: " in line["exception"]
    assert SECRET not in lines.written[0]


class Told(Payload):
    wire_name = "test.thing.told"
    what: str


async def _refuse_long_effects(database: Database) -> None:
    async with as_owner(database) as connection:
        await connection.execute("ALTER TABLE effects ADD CHECK (length(what) < 5)")


async def test_what_is_logged_while_an_event_is_applied_names_the_event_its_request_and_its_actor(
    database: Database, lines: _Lines
) -> None:
    async def fail(connection: Connection, events: list[Received[Told]]) -> None:
        _log.warning("applying")
        await connection.execute("INSERT INTO effects (what) VALUES (%s)", (events[0].data.what,))

    await _refuse_long_effects(database)
    event = NewEvent(Told(what=SECRET), "1", Actor(7, "ana@example.com"), correlation_id="r-1")
    async with database.transaction() as connection:
        await outbox.record(connection, [event])
    await outbox.number(database)
    await Inbox("test", database, {Told: fail}).receive([raw for _, raw in (await outbox.read(database, 0, 1)).events])

    applying, failed = lines.read
    for line in (applying, failed):
        assert (line["event_id"], line["request_id"], line["actor"]) == (str(event.id), "r-1", 7)
    assert "could not apply" in failed["message"]
    assert SECRET not in "".join(lines.written)


async def test_a_message_that_does_not_fit_is_told_without_its_text(database: Database, lines: _Lines) -> None:
    event = NewEvent(Told(what="x"), "1", Actor(7, "ana@example.com"))
    raw = event.envelope().replace(b'{"what":"x"}', json.dumps({"what": {"text": SECRET}}).encode())

    async def apply(connection: Connection, events: list[Received[Told]]) -> None: ...

    await Inbox("test", database, {Told: apply}).receive([b'{"sequence":1,' + raw[1:]])
    [line] = lines.read
    assert "what: Input should be a valid string" in line["message"]
    assert SECRET not in lines.written[0]


router = APIRouter(prefix="/api/v1", route_class=StrictRoute)


@router.post("/accounts/{name}")
async def create_account(account: Account, viewer: Viewer, database: Db, name: str, q: str = "") -> Response:
    async with database.statement() as connection:
        await connection.execute("INSERT INTO effects (what) VALUES (%s)", (account.password,))
    return Response()


async def test_a_request_that_fails_is_logged_by_route_and_status_and_nothing_of_what_was_sent(
    database: Database, lines: _Lines
) -> None:
    await _refuse_long_effects(database)
    app = create_app("Accounts", [router], database=database, verifier=trusting(), schema_version="1")
    right = token(Identity(7, "ana@example.com", Role.VIEWER))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://accounts") as client:
        response = await client.post(
            f"/api/v1/accounts/{SECRET}?q={SECRET}",
            json={"name": "a", "password": SECRET},
            headers={"Authorization": f"Bearer {right}", "X-Request-Id": "r-1"},
        )
    assert response.status_code == 500
    written = "".join(lines.written)
    assert SECRET not in written
    assert right not in written
    unforeseen, answered = (line for line in lines.read if line["logger"] == "chassis.web.edge")
    assert "CheckViolation" in unforeseen["exception"]
    assert answered["message"] == "POST /api/v1/accounts/{name} is answered with 500"
    assert {(line["request_id"], line["actor"]) for line in (unforeseen, answered)} == {("r-1", 7)}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_a_log_on_a_full_disk_says_so_once_and_once_when_it_is_written_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "traceline.log"
    place.symlink_to("/dev/full")
    handler = LogFile(place, maxBytes=1000, encoding="utf-8")
    handler.setFormatter(JsonFormatter("test-program"))

    def write(text: str) -> None:
        handler.handle(logging.LogRecord("test", logging.INFO, "", 0, text, (), None))

    for number in range(5):
        write(f"lost {number}")
    said = capfd.readouterr().err
    assert said.count("\n") == 1, said
    assert "No space left on device" in said
    place.unlink()
    place.write_text('{"cut":')
    write("kept")
    write("kept, too")
    said = capfd.readouterr().err
    assert said.count("\n") == 1, said
    assert "5 lines are missing" in said
    handler.close()
    assert [json.loads(line)["message"] for line in place.read_text().splitlines()[1:]] == ["kept", "kept, too"]

"""Brings everything up in order, serves until a signal, and takes everything down again."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
import uvloop
from starlette.types import ASGIApp

from auth_service.startup import BuiltInPasswordRefused
from chassis.problems import Problem
from chassis.start_failure import StartFailure
from embedded.composition import SCHEMAS, Traceline, compose, read_settings
from embedded.demo import DemoError, DemoSummary, load_demo
from embedded.postgres import Postgres, migrate
from gateway.protocol import Protocol

_GC_THRESHOLDS = (10_000, 20, 20)
_SWITCH_INTERVAL = 0.003
_GRACE = 2
"""Seconds that requests under way have to end."""


def serve(
    folder: Path, listener: socket.socket, *, demo: bool, wrap: Callable[[ASGIApp], ASGIApp] | None = None
) -> None:
    """Run Traceline on the data of `folder`; see `start.start`."""
    settings = read_settings()
    postgres = Postgres(folder / "postgresql")
    try:
        urls = {}
        for service, (package, schema_version) in SCHEMAS.items():
            urls[service] = postgres.database(package)
            migrate(package, urls[service], schema_version)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            traceline = compose(settings, urls)
            app = traceline.app if wrap is None else wrap(traceline.app)
            runner.run(_serve(traceline, app, listener, demo=demo))
    finally:
        postgres.stop()


class _Server(uvicorn.Server):
    """Leaves the signals to us: uvicorn would raise them again before the databases are closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(traceline: Traceline, app: ASGIApp, listener: socket.socket, *, demo: bool) -> None:
    try:
        await traceline.start()
    except BuiltInPasswordRefused as error:
        raise StartFailure(str(error)) from error
    server = _Server(
        uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
    )
    # What is there now stays: the collector need not walk through it again, which takes 100 ms.
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    # Scoring runs in threads: a request that awaits twenty times would wait 5 ms for its turn each time.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, _stop, server)
    greeting = asyncio.create_task(_greet(traceline, listener, demo=demo))
    try:
        await server.serve(sockets=[listener])
    finally:
        greeting.cancel()
        await asyncio.gather(greeting, return_exceptions=True)
        await traceline.stop()


def _stop(server: uvicorn.Server) -> None:
    server.force_exit = server.should_exit
    server.should_exit = True


async def _greet(traceline: Traceline, listener: socket.socket, *, demo: bool) -> None:
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    while True:
        try:
            await traceline.check_ready()
            break
        except Problem:
            await asyncio.sleep(0.05)
    admin = traceline.auth_settings
    log_in = f"{admin.default_admin_email} with the password that it was given"
    if "default_admin_password" not in admin.model_fields_set:
        log_in = f"{admin.default_admin_email}, password {admin.default_admin_password.get_secret_value()}"
    if demo:
        try:
            summary = await load_demo(
                address, admin.default_admin_email, admin.default_admin_password.get_secret_value()
            )
        except DemoError as error:
            _say(f"The demo project was not loaded: {error}")
        else:
            _say(_describe(summary) if summary is not None else "The demo project is there already.")
    _say(f"Traceline is running at {address} (API pages at {address}/docs).")
    _say(f"Log in as {log_in}. Ctrl-C stops it; the data stays.")


def _describe(summary: DemoSummary) -> str:
    return (
        f"The demo project is loaded: {summary.requirements} requirements, {summary.test_cases} test cases,"
        f" {summary.links} links ({summary.suspect_links} suspect), coverage {summary.coverage:.0%},"
        f" {summary.suggestions_pending} suggestions waiting."
    )


def _say(sentence: str) -> None:
    print(sentence, flush=True)

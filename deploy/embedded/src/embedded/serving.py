"""Brings everything up in order, serves until a signal, and takes everything down again."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import uvloop
from starlette.types import ASGIApp

from auth_service.startup import BuiltInPasswordRefused
from chassis import version
from chassis.http.server import Server, settle
from chassis.metrics import exposition
from chassis.metrics.readings import Readings
from chassis.metrics.requests import Measured
from chassis.problems import Problem
from chassis.start_failure import StartFailure
from embedded.composition import SCHEMAS, Traceline, compose, read_settings
from embedded.demo import DemoError, load_demo
from embedded.postgres import Postgres, migrate
from gateway.app import measured_as

_GRACE = 2
"""Seconds that requests under way have to end."""


def serve(
    folder: Path,
    listener: socket.socket,
    metrics: socket.socket | None,
    *,
    demo: bool,
    wrap: Callable[[ASGIApp], ASGIApp] | None = None,
) -> None:
    """Run Traceline on the data of `folder`, and `GET /metrics` on `metrics`; see `start.start`."""
    version.announce({service: schema for service, (_, schema) in SCHEMAS.items()})
    settings = read_settings()
    postgres = Postgres(folder / "postgresql")
    try:
        urls = {}
        for service, (package, schema_version) in SCHEMAS.items():
            urls[service] = postgres.database(package)
            migrate(package, urls[service], schema_version)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            traceline = compose(settings, urls)
            app: ASGIApp = traceline.app
            if metrics is not None:
                app = Measured(app, "gateway", measured_as)
            if wrap is not None:
                app = wrap(app)
            runner.run(_serve(traceline, app, listener, metrics, demo=demo))
    finally:
        postgres.stop()


async def _serve(
    traceline: Traceline, app: ASGIApp, listener: socket.socket, metrics: socket.socket | None, *, demo: bool
) -> None:
    try:
        await traceline.start()
    except BuiltInPasswordRefused as error:
        raise StartFailure(str(error)) from error
    server = Server(app, grace=_GRACE)
    settle()
    server.stop_on_signals()
    greeting = asyncio.create_task(_greet(traceline, listener, demo=demo))
    try:
        async with nullcontext() if metrics is None else exposition.served(metrics, Readings(traceline.readings())):
            await server.serve(sockets=[listener])
    finally:
        greeting.cancel()
        await asyncio.gather(greeting, return_exceptions=True)
        await traceline.stop()


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
            _say(str(summary) if summary is not None else "The demo project is there already.")
    _say(f"Traceline is running at {address} (API pages at {address}/docs).")
    _say(f"Log in as {log_in}. Ctrl-C stops it; the data stays.")


def _say(sentence: str) -> None:
    print(sentence, flush=True)

"""Brings everything up in order, serves until a signal, and takes everything down again."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import nullcontext

import psycopg
import uvloop
from starlette.types import ASGIApp

from auth_service.startup import first_log_in
from chassis.core import version
from chassis.core.full_disks import is_full
from chassis.core.problems import Problem
from chassis.core.start_failure import StartFailure
from chassis.db.refusals import is_of_full_storage
from chassis.local.postgres import Postgres
from chassis.observability.collectors import GaugeCollectors
from chassis.observability.requests import Measured
from chassis.server import exposition
from chassis.server.http_server import Server, settle
from contracts.routes import AUTH
from embedded.composition import Traceline, compose
from embedded.data_folder import DataFolder
from embedded.databases import migrate
from embedded.demo import tell_of_demo
from embedded.services import SERVICES
from embedded.settings import AllSettings
from gateway.app import measured_as

# One process, with few connections.
_POSTGRES = {"shared_buffers": "64MB", "max_connections": "60", "max_wal_size": "512MB"}
_log = logging.getLogger(__name__)
_LOOK_AGAIN = 1.0
_GRACE = 2
"""Seconds that requests under way have to end."""


def serve(
    settings: AllSettings,
    folder: DataFolder,
    listener: socket.socket,
    metrics: socket.socket | None,
    *,
    demo: bool,
    wrap: Callable[[ASGIApp], ASGIApp] | None = None,
) -> None:
    """Run Traceline on the data of `folder`, and `GET /metrics` on `metrics`; see `start.start`."""
    version.announce({service.name: service.schema for service in SERVICES})
    postgres = Postgres(folder.path / "postgresql", _POSTGRES)
    try:
        urls = {service.name: postgres.database(service.package) for service in SERVICES}
        migrate({service.package: urls[service.name] for service in SERVICES})
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            traceline = compose(settings, urls, folder.path, demo=demo)
            app: ASGIApp = traceline.app
            if metrics is not None:
                app = Measured(app, "gateway", measured_as)
            if wrap is not None:
                app = wrap(app)
            runner.run(_serve(traceline, app, listener, metrics, folder, postgres, demo=demo))
    except (psycopg.Error, OSError) as error:
        if not (is_of_full_storage(error) or is_full(error)):
            raise
        raise StartFailure(
            f"There is no room on the volume of {folder.path}: free some hundred megabytes and start it again; what is"
            " there stays."
        ) from error
    finally:
        postgres.stop()
    _say(f"Traceline has stopped; the data stays in {folder.path}.")


async def _serve(
    traceline: Traceline,
    app: ASGIApp,
    listener: socket.socket,
    metrics: socket.socket | None,
    folder: DataFolder,
    postgres: Postgres,
    *,
    demo: bool,
) -> None:
    password = await traceline.start()
    keeping = asyncio.create_task(_keep_running(postgres))
    server = Server(app, grace=_GRACE, trusted_proxies=traceline.settings.proxies.forwarded_allow_ips)
    settle()
    server.stop_on_signals()
    greeting = asyncio.create_task(_greet(traceline, listener, password, folder, demo=demo))
    try:
        async with (
            nullcontext() if metrics is None else exposition.served(metrics, GaugeCollectors(traceline.collectors()))
        ):
            await server.serve(sockets=[listener])
    finally:
        _say("Stopping ...")
        greeting.cancel()
        keeping.cancel()
        await asyncio.gather(greeting, keeping, return_exceptions=True)
        folder.answers_at(None)
        await traceline.stop()


async def _keep_running(postgres: Postgres) -> None:
    """Start the server again whenever it has ended by itself, as it does where it cannot write its log."""
    is_told = False
    while True:
        await asyncio.sleep(_LOOK_AGAIN)
        if postgres.is_running():
            is_told = False
            continue
        if not is_told:
            is_told = True
            _log.error(
                "PostgreSQL has ended; its log is %s. It is started again until it stays.", postgres.folder / "log"
            )
        await asyncio.to_thread(postgres.start_again)


async def _greet(
    traceline: Traceline, listener: socket.socket, password: str | None, folder: DataFolder, *, demo: bool
) -> None:
    """Print where it is and how to log in; `password` is the admin's if it was made just now."""
    auth = traceline.settings.auth
    if password is not None:  # at once: it is shown only now
        _say(first_log_in(auth, password))
    host, port = listener.getsockname()[:2]
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    while True:
        try:
            await traceline.check_ready()
            break
        except Problem:
            await asyncio.sleep(0.05)
    folder.answers_at(address)
    if demo:
        _say(await tell_of_demo(folder, address, auth, traceline.databases[AUTH.name]))
    _say(f"Traceline is running at {address} (API pages at {address}/docs).")
    if password is None:
        _say(await traceline.log_in_hint())
    _say("Ctrl-C stops it; the data stays.")


def _say(sentence: str) -> None:
    print(sentence, flush=True)

"""A program from its start to its end: it serves until SIGTERM, then finishes and closes everything."""

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

import uvloop
from pydantic_settings import BaseSettings
from starlette.types import ASGIApp

from chassis.core import version
from chassis.core.settings import check, read
from chassis.core.start_failure import StartFailure
from chassis.observability import logs, telemetry
from chassis.observability.collectors import GaugeCollectors
from chassis.observability.requests import Measured, RouteOf, template
from chassis.server import exposition
from chassis.server.http_server import DRAIN, Server, listen, settle
from chassis.server.process.resources import Process
from chassis.server.process.settings import ProcessSettings

_log = logging.getLogger(__name__)

Compose = Callable[[Process], Awaitable[ASGIApp]]


def run(
    program: str,
    compose: Compose,
    *settings: type[BaseSettings],
    route_of: RouteOf = template,
    schema: str | None = None,
) -> None:
    """Run the program that `compose` puts together; end with exit code 0 after SIGTERM, 1 when it cannot start.

    `settings` are the kinds that it reads beside ProcessSettings: what is wrong in any of them is reported at once.
    `route_of` returns the route by which its requests are measured, `schema` is what it needs of its database.
    """
    logs.configure(program)
    version.announce({} if schema is None else {program: schema})
    telemetry.configure(program)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run(compose, settings, partial(Measured, program=program, route_of=route_of)))
    except StartFailure as failure:
        for line in str(failure).splitlines():
            _log.error("%s", line)
        sys.exit(1)
    except asyncio.CancelledError:
        pass  # stopped while it was still waiting to start
    except Exception:  # noqa: BLE001 - in the log like all else, where errors quote nothing
        _log.exception("The program cannot go on")
        sys.exit(1)
    finally:
        telemetry.stop()


async def _run(compose: Compose, kinds: Sequence[type[BaseSettings]], measured: Callable[[ASGIApp], ASGIApp]) -> None:
    starting = asyncio.current_task()
    assert starting is not None, "it runs as a task"
    stopped = asyncio.Event()

    def stop() -> None:
        stopped.set()
        starting.cancel()

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    loop.set_exception_handler(logs.log_unretrieved)
    check(ProcessSettings, *kinds)
    settings = read(ProcessSettings)
    tls = settings.server()
    async with AsyncExitStack() as resources:
        collectors = GaugeCollectors()
        if settings.metrics_port is not None:
            metrics = listen(settings.http_host, settings.metrics_port, "HTTP_HOST or METRICS_PORT")
            await resources.enter_async_context(exposition.served(metrics, collectors))
        app = await compose(Process(settings, resources, collectors))
        if settings.metrics_port is not None:
            app = measured(app)
        if stopped.is_set():  # and the cancellation was swallowed by what it met
            return
        listener = _listener(settings)
        server = Server(
            app,
            grace=settings.shutdown_grace_seconds,
            drain=DRAIN,
            trusted_proxies=settings.forwarded_allow_ips,
            tls=tls,
        )
        settle()
        server.stop_on_signals()
        await server.serve(sockets=[listener])


def _listener(settings: ProcessSettings) -> socket.socket:
    if settings.http_socket_fd is None:
        return listen(settings.http_host, settings.http_port, "HTTP_HOST or HTTP_PORT")
    try:
        return socket.socket(fileno=settings.http_socket_fd)
    except OSError as error:
        raise StartFailure(
            f"HTTP_SOCKET_FD is {settings.http_socket_fd}, which is no socket ({error.strerror})."
        ) from None

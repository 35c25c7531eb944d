"""The two programs of each service: `python -m PACKAGE.app` answers HTTP, `python -m PACKAGE.worker` does the rest."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

from chassis.core.settings import read
from chassis.db.database import Database
from chassis.server.process.lifecycle import run
from chassis.server.process.resources import Process
from chassis.server.process.settings import BrokerSettings, addresses
from chassis.server.service import Service
from chassis.server.worker import Worker

Prepare = Callable[[Any, Database, Process], Awaitable[None]]
"""Takes the settings of the service, its open database and the process."""


def run_app(service: Service, create_app: Callable[..., FastAPI], prepare: Prepare | None = None) -> None:
    """Run the app of a service, after what has to be prepared; see `run`."""

    async def compose(process: Process) -> ASGIApp:
        settings = read(service.settings)
        database = await process.database(settings, service.schema)
        if prepare is not None:
            await prepare(settings, database, process)
        tokens = settings.internal_tokens()
        return create_app(settings, database, tokens, *process.peers(service.app_asks, tokens, service.name))

    run(service.name, compose, service.settings, addresses(service.app_asks), schema=service.schema)


def run_worker(service: Service, create_worker: Callable[..., Worker]) -> None:
    """Run the worker of a service; see `run`."""

    async def compose(process: Process) -> ASGIApp:
        settings = read(service.settings)
        database = await process.database(settings, service.schema)
        peers = process.peers(service.worker_asks, settings.internal_tokens(), service.name)
        bus = process.bus()
        await process.use(create_worker(settings, database, bus, *peers), bus)
        return process.probes()

    program = service.name.replace("-service", "-worker")
    kinds = (service.settings, addresses(service.worker_asks), BrokerSettings)
    run(program, compose, *kinds, schema=service.schema)

"""The two programs of each service: `python -m PACKAGE.app` answers HTTP, `python -m PACKAGE.worker` does the rest."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from fastapi import FastAPI
from pydantic_settings import BaseSettings
from starlette.types import ASGIApp

from chassis.core.settings import CalledSettings, CallingSettings, read
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
        verifier = read(CalledSettings).verifier(service.name, service.internal)
        peers = process.peers(service.app_asks, service.name, patience=process.patience)
        database = await process.database(settings, service.schema)
        if prepare is not None:
            await prepare(settings, database, process)
        return create_app(settings, database, verifier, *peers)

    run(service.name, compose, *app_settings(service), schema=service.schema)


def run_worker(service: Service, create_worker: Callable[..., Worker]) -> None:
    """Run the worker of a service; see `run`."""

    async def compose(process: Process) -> ASGIApp:
        settings = read(service.settings)
        peers = process.peers(service.worker_asks, service.name)
        database = await process.database(settings, service.schema)
        bus = process.bus()
        await process.use(create_worker(settings, database, bus, *peers), bus)
        return process.probes()

    program = service.name.replace("-service", "-worker")
    run(program, compose, *worker_settings(service), schema=service.schema)


def app_settings(service: Service) -> list[type[BaseSettings]]:
    """Return what the app of a service reads, beside what every program does."""
    return [service.settings, CalledSettings, *_of_calls(service.app_asks)]


def worker_settings(service: Service) -> list[type[BaseSettings]]:
    """Return what the worker of a service reads, beside what every program does."""
    return [service.settings, *_of_calls(service.worker_asks), BrokerSettings]


def _of_calls(asked: Sequence[str]) -> list[type[BaseSettings]]:
    return [addresses(asked), CallingSettings] if asked else []

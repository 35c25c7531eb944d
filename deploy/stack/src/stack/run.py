"""Starts the stack, tells the person at the terminal where it is, and keeps it running until Ctrl-C or SIGTERM."""

import asyncio
import os
import secrets
import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from auth_service.startup import admin_has, first_log_in, log_in_hint
from chassis.core.start_failure import StartFailure
from chassis.db.database import Database
from chassis.server.http_server import listen
from embedded.data_folder import DataFolder
from embedded.demo import tell_of_demo
from stack.settings import AllSettings, check_folder, read_settings
from stack.system import System, signing_keys

_PATIENCE = 60


def run(*, demo: bool) -> None:
    """Run until a signal, which raises KeyboardInterrupt when everything has ended, or until supervisord ends.

    Raises StartFailure when it cannot start.
    """
    _end_by(signal.default_int_handler)
    os.umask(0o077)  # whatever is written is for the owner alone
    settings = read_settings()
    check_folder(settings.own.folder(demo=demo))
    data = DataFolder(settings.own.folder(demo=demo), demo=demo)
    folder = data.path
    password = settings.first_password
    if password is None:
        password = os.environ["DEFAULT_ADMIN_PASSWORD"] = secrets.token_urlsafe(15)
    system = System(folder, settings.own, settings.servers, signing_keys(folder))
    try:
        system.supervisor.take_down_what_is_left()
        listen(settings.own.host, settings.own.port, "TRACELINE_HOST or TRACELINE_PORT").close()
        system.start()
        _greet(system, settings, password, data if demo else None)
        code = system.supervisor.wait()
    finally:
        _end_by(signal.SIG_IGN)  # it is ending, and no part of it takes for ever
        _say("Stopping ...")
        system.stop()
        _say(f"Traceline has stopped; the data stays in {folder}.")
    if code != 0:
        raise StartFailure(f"supervisord has ended with code {code}; its log is {folder / 'log' / 'supervisord.log'}.")


def _end_by(handler: signal.Handlers | Callable[[int, FrameType | None], Any]) -> None:
    names = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup wants it to outlive the terminal
        names.append(signal.SIGHUP)
    for name in names:
        signal.signal(name, handler)


def _greet(system: System, settings: AllSettings, password: str, demo: DataFolder | None) -> None:
    """Print where it is and how to log in; `password` is what the default admin got if he was made just now."""
    late = system.wait_until_ready(_PATIENCE)
    if late:
        _say(f"Not ready after {_PATIENCE} s, and still trying: {', '.join(late)}; see {_logs(system.folder)}.")
    host, port = system.settings.host, system.settings.port
    address = f"http://{host}:{port}"
    for sentence in asyncio.run(_greeting(system, settings, password, demo, address)):
        _say(sentence)
    _say("Ctrl-C stops everything; the data stays.")


async def _greeting(
    system: System, settings: AllSettings, password: str, demo: DataFolder | None, address: str
) -> list[str]:
    database = Database(system.database_urls["auth-service"], pool_size=1)
    await database.open()
    try:
        loaded = [] if demo is None else [await tell_of_demo(demo, address, settings.auth, database)]
        where = f"Traceline is running at {address} (API pages at {address}/docs); logs are in {_logs(system.folder)}."
        return [*loaded, where, await _how_to_log_in(settings, database, password)]
    finally:
        await database.close()


async def _how_to_log_in(settings: AllSettings, database: Database, password: str) -> str:
    if settings.first_password is None and await admin_has(settings.auth, database, password):
        return first_log_in(settings.auth, password)
    return await log_in_hint(settings.auth, database, settings.first_password)


def _logs(folder: Path) -> Path:
    return folder / "log"


def _say(sentence: str) -> None:
    print(sentence, flush=True)

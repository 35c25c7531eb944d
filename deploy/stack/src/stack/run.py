"""Starts the stack, tells the person at the terminal where it is, and keeps it running until Ctrl-C or SIGTERM."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from auth_service.settings import BUILT_IN_ADMIN_PASSWORD
from auth_service.settings import Settings as AuthSettings
from chassis.http.server import listen
from chassis.settings import read
from chassis.start_failure import StartFailure
from embedded.data_folder import DataFolder
from embedded.demo import DemoError, load_demo
from stack.settings import Servers, Settings, check_folder, check_services
from stack.system import System, internal_token_secret

_PATIENCE = 60


def run(*, demo: bool) -> None:
    """Run until a signal, which raises KeyboardInterrupt when everything has ended, or until supervisord ends.

    Raises StartFailure when it cannot start.
    """
    _end_by(signal.default_int_handler)
    os.environ.setdefault("ENVIRONMENT", "development")
    settings, servers = read(Settings), read(Servers)
    check_folder(settings.data_dir.expanduser().resolve())
    folder = DataFolder(settings.data_dir).path
    secret = internal_token_secret(folder)
    auth = check_services(secret)
    system = System(folder, settings, servers, secret)
    try:
        system.supervisor.take_down_what_is_left()
        listen(settings.host, settings.port, "TRACELINE_HOST or TRACELINE_PORT").close()
        system.start()
        _greet(system, auth, demo=demo)
        code = system.supervisor.wait()
    finally:
        _end_by(signal.SIG_IGN)  # it is ending, and no part of it takes for ever
        system.stop()
    if code != 0:
        raise StartFailure(f"supervisord has ended with code {code}; its log is {folder / 'log' / 'supervisord.log'}.")


def control(arguments: list[str]) -> NoReturn:
    """Become supervisorctl for the stack of the data folder: `status`, `restart catalog-service` and so on."""
    folder = read(Settings).data_dir.expanduser().resolve()
    configuration = folder / "supervisord.conf"
    if not configuration.exists():
        raise StartFailure(f"There is no stack in {folder}; set TRACELINE_DATA_DIR to the folder of the one you mean.")
    os.execv(  # noqa: S606 - it takes our place on purpose
        sys.executable, [sys.executable, "-m", "supervisor.supervisorctl", "-c", str(configuration), *arguments]
    )


def _end_by(handler: signal.Handlers | Callable[[int, FrameType | None], Any]) -> None:
    names = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup wants it to outlive the terminal
        names.append(signal.SIGHUP)
    for name in names:
        signal.signal(name, handler)


def _greet(system: System, auth: AuthSettings, *, demo: bool) -> None:
    late = system.wait_until_ready(_PATIENCE)
    if late:
        _say(f"Not ready after {_PATIENCE} s, and still trying: {', '.join(late)}; see {_logs(system.folder)}.")
    host, port = system.settings.host, system.settings.port
    address = f"http://{host}:{port}"
    password = auth.default_admin_password.get_secret_value()
    if demo:
        try:
            summary = asyncio.run(load_demo(address, auth.default_admin_email, password))
        except DemoError as error:
            _say(f"The demo project was not loaded: {error}")
        else:
            _say("The demo project is there already." if summary is None else str(summary))
    known = f", password {password}" if password == BUILT_IN_ADMIN_PASSWORD else " with the password that it was given"
    _say(f"Traceline is running at {address} (API pages at {address}/docs); logs are in {_logs(system.folder)}.")
    _say(f"Log in as {auth.default_admin_email}{known}. Ctrl-C stops everything; the data stays.")


def _logs(folder: Path) -> Path:
    return folder / "log"


def _say(sentence: str) -> None:
    print(sentence, flush=True)

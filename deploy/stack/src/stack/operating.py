"""What operators do with the stack of a data folder, each a word after `python -m stack`."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from socket import AF_UNIX, socket

from chassis.core.settings import read
from chassis.core.start_failure import StartFailure
from chassis.local.postgres import Postgres
from embedded.data_folder import DataFolder
from stack import postgres
from stack.programs import SERVICES
from stack.settings import Servers, Settings, check_folder

_SCRIPTS = Path(__file__).parents[3]
_DATABASE = f"{postgres.FOLDER}/.s.PGSQL.5432"
"""The socket of the stack's own PostgreSQL."""


def control(words: list[str]) -> None:
    """Become supervisorctl: `status`, `restart catalog-service` and so on."""
    folder = _running("supervisor.sock")
    _become([sys.executable, "-m", "supervisor.supervisorctl", "-c", str(folder / "supervisord.conf"), *words])


def admin(words: list[str]) -> None:
    """Become `python -m chassis.admin` with the settings of a program: `catalog-worker feed`."""
    program, *rest = words or [""]
    run([program, "chassis.admin", *rest])


def run(words: list[str]) -> None:
    """Become a module with the settings of a program: `auth-worker auth_service.rotate_keys`."""
    known = sorted(file.stem for file in (_folder() / "settings").glob("*-worker.env"))
    if len(words) < 2 or words[0] not in known:
        raise StartFailure(f"Say as which program, and what: {', '.join(known)}.")
    if read(Servers).database_url is None:
        _running(_DATABASE)
    _become([sys.executable, "-m", *words[1:]], settings_of(_folder(), words[0]))


def settings_of(folder: Path, program: str) -> dict[str, str]:
    """Return the settings that the stack gives a program, its overrides included."""
    found: dict[str, str] = {}
    for kind in ("settings", "overrides"):
        file = folder / kind / f"{program}.env"
        if file.exists():
            words = shlex.split(file.read_text(), comments=True)
            found |= dict(word.split("=", 1) for word in words if "=" in word)
    return found


def query(words: list[str]) -> None:
    """Become psql in the database of a service: `catalog-service`, and what psql takes."""
    _without_server_of_others()
    if not words or words[0] not in SERVICES:
        raise StartFailure(f"Say in whose database: {', '.join(sorted(SERVICES))}.")
    where = _server(_running(_DATABASE)) | {"PGDATABASE": SERVICES[words[0]]}
    os.execvpe("psql", ["psql", *words[1:]], {**os.environ, **where})  # noqa: S606, S607 - it takes our place on purpose


def backup(words: list[str]) -> None:
    """Make a folder with a dump of each database, while the stack runs."""
    _without_server_of_others()
    _script("backup.sh", words, _running(_DATABASE))


def restore(words: list[str]) -> None:
    """Bring the databases to what a backup says, while the stack does not run; make them where there are none."""
    _without_server_of_others()
    folder = read(Settings).folder()
    check_folder(folder)
    os.umask(0o077)
    data = DataFolder(folder)
    server = Postgres(data.path / postgres.FOLDER, postgres.SETTINGS)
    try:
        _script("restore.sh", words, data.path)
    finally:
        server.stop()
    # The broker's messages are about what the databases do not have any more.
    shutil.rmtree(data.path / "rabbitmq" / "data", ignore_errors=True)
    print("Restored; 'make stack' starts it.", flush=True)


COMMANDS: Mapping[str, Callable[[list[str]], None]] = {
    "ctl": control,
    "admin": admin,
    "run": run,
    "sql": query,
    "backup": backup,
    "restore": restore,
}


def _folder() -> Path:
    folder = read(Settings).folder()
    if not (folder / "supervisord.conf").exists():
        raise StartFailure(f"There is no stack in {folder}; set TRACELINE_DATA_DIR to the folder of the one you mean.")
    return folder


def _running(listening: str) -> Path:
    """Return the folder of the stack, at whose socket `listening` somebody has to answer."""
    folder = _folder()
    with socket(AF_UNIX) as asked:
        try:
            asked.connect(str(folder / listening))
        except OSError:
            raise StartFailure(f"The stack in {folder} does not run; 'make stack' starts it.") from None
    return folder


def _without_server_of_others() -> None:
    if read(Servers).database_url is not None:
        raise StartFailure(
            "DATABASE_URL names a server that is not the stack's: deploy/backup.sh and deploy/restore.sh are for it,"
            " with PGHOST, PGPORT, PGUSER and PGPASSFILE; after a restore RabbitMQ has to be empty."
        )


def _script(name: str, words: list[str], folder: Path) -> None:
    if len(words) != 1:
        raise StartFailure(f"Say which folder: python -m stack {name.removesuffix('.sh')} FOLDER.")
    os.environ.pop("PG_RUN", None)
    done = subprocess.run([_SCRIPTS / name, words[0]], env={**os.environ, **_server(folder)}, check=False)
    if done.returncode != 0:
        raise StartFailure(f"{name} has failed: see above.")


def _server(folder: Path) -> dict[str, str]:
    """Return by which variables PostgreSQL's programs, those of the wheel, find the stack's own server."""
    cluster = postgres.cluster(folder)
    return {
        "PGHOST": str(cluster.folder),
        "PGPORT": "5432",
        "PGUSER": "postgres",
        "PATH": f"{cluster.programs}{os.pathsep}{os.environ['PATH']}",
    }


def _become(command: list[str], settings: Mapping[str, str] | None = None) -> None:
    os.execve(sys.executable, command, {**os.environ, **(settings or {})})  # noqa: S606 - it takes our place on purpose

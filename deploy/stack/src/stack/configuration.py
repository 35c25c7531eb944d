"""Writes what supervisord and the programs read: supervisord.conf, and settings in files that are closed to others."""

import os
import resource
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from stack.programs import Program

_PROGRAM = Path(__file__).with_name("program.sh")
_BACKLOG = 2048
_FILES = 4096
_STOPS_WITHIN = 25
"""Seconds until a program that was asked to stop is killed; it gives itself 20."""

_SUPERVISORD = """\
[supervisord]
logfile = {folder}/log/supervisord.log
logfile_maxbytes = 5MB
logfile_backups = 2
pidfile = {folder}/supervisord.pid
childlogdir = {folder}/log
silent = true
minfds = {files}
{user}
[unix_http_server]
file = {folder}/supervisor.sock
chmod = 0700

[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface

[supervisorctl]
serverurl = unix://{folder}/supervisor.sock
"""

# A program that ends comes back within a second; one that ends at once again and again, after ever longer pauses.
_PROGRAM_SECTION = """
[{kind}:{name}]
command = {command}
process_name = {process_name}
numprocs = {copies}
directory = {folder}
priority = {stage}
autostart = {starts_first}
autorestart = true
startsecs = 1
startretries = 1000000
stopsignal = {stop_signal}
stopwaitsecs = {stops_within}
killasgroup = true
redirect_stderr = true
stdout_logfile = {folder}/log/{process_name}.log
stdout_logfile_maxbytes = 10MB
stdout_logfile_backups = 2
"""


def write(folder: Path, programs: Iterable[Program]) -> Path:
    """Write the configuration for the data of `folder`; return the path of supervisord.conf."""
    for name in ("log", "settings", "overrides"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(0o700)
    for old in (folder / "settings").glob("*.env"):
        old.unlink()
    sections = []
    for program in programs:
        sections.append(_section(folder, program))
        if program.settings:
            _write_settings(folder, program)
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _FILES if most_files == resource.RLIM_INFINITY else min(_FILES, most_files)
    # It wants its user to be said when it is root, which is fine here: programs get a `user` where they need one.
    user = "user = root\n" if os.geteuid() == 0 else ""
    path = folder / "supervisord.conf"
    path.write_text(_SUPERVISORD.format(folder=folder, files=files, user=user) + "".join(sections))
    return path


def write_settings(file: Path, settings: Mapping[str, str]) -> None:
    """Write settings as a shell reads them, `NAME='value'` a line; only the owner may read the file."""
    write_private(file, "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.items()))


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read, from its first moment; it is there whole or not at all."""
    new = file.with_name(file.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(text)
    new.replace(file)


def _write_settings(folder: Path, program: Program) -> None:
    settings = {"COMMAND": shlex.join(program.command), **program.settings}
    if len(program.of_copy) == 1:
        settings.update(program.of_copy[0])
    else:
        for process, own in zip(program.processes, program.of_copy, strict=True):
            write_settings(folder / "settings" / f"{process}.env", own)
    write_settings(folder / "settings" / f"{program.name}.env", settings)


def _section(folder: Path, program: Program) -> str:
    command = ["/bin/sh", str(_PROGRAM)] if program.settings else list(program.command)
    section = _PROGRAM_SECTION.format(
        kind="program" if program.listener is None else "fcgi-program",
        name=program.name,
        command=shlex.join(command).replace("%", "%%"),
        process_name="%(program_name)s" + ("-%(process_num)d" if len(program.of_copy) > 1 else ""),
        copies=len(program.of_copy),
        folder=folder,
        stage=int(program.stage),
        starts_first=str(program.starts_first).lower(),
        stop_signal=program.stop_signal,
        stops_within=_STOPS_WITHIN,
    )
    if program.listener is not None:
        host, port = program.listener
        section += f"socket = tcp://{host}:{port}\nsocket_backlog = {_BACKLOG}\n"
    if program.user is not None:
        section += f"user = {program.user}\n"
    return section

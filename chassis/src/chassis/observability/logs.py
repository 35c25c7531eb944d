"""Log lines as JSON, one object a line: whose request, trace and event each belongs to, and nothing secret.

What somebody sent is not for the log. Errors quote it: their messages are cut to what says no value.
"""

import asyncio
import json
import logging
import os
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, TextIO

import orjson
import psycopg
import pydantic

from chassis.core import request_context
from chassis.observability import telemetry

_log = logging.getLogger(__name__)


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "program": self._program,
            "logger": record.name,
            "message": _message(record),
        }
        if request := request_context.request_id.get():
            line["request_id"] = request
        if by_gateway := request_context.gateway_request_id.get():
            line["gateway_request_id"] = by_gateway
        if span := telemetry.current():
            line["trace_id"], line["span_id"] = f"{span.trace_id:032x}", f"{span.span_id:016x}"
        if (actor := request_context.actor_id.get()) is not None:
            line["actor"] = actor
        if event := request_context.event_id.get():
            line["event_id"] = event
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = _describe(record.exc_info[1])
        return _printable(line)


class PlainFormatter(logging.Formatter):
    """Formats a record as a sentence for a person at a terminal, who finds the rest in the log file."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        error = record.exc_info[1] if record.exc_info else None
        sentence = f"{record.levelname.capitalize()}: {_message(record)}"
        if error is not None:
            sentence = f"{sentence.rstrip('.')}: {describe(error) or type(error).__qualname__}"
        return "".join(character if character.isprintable() else " " for character in sentence)


def describe(error: BaseException) -> str:
    """Return an error's message without the values that it quotes: rows of the database, fields of a body."""
    if isinstance(error, pydantic.ValidationError):
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    if isinstance(error, psycopg.Error) and error.sqlstate is not None:
        diagnosis = error.diag
        # The server's first line; not the detail, which shows rows. A value that it refuses stands in that line too.
        said = (
            "a value was refused" if isinstance(error, psycopg.DataError) else diagnosis.message_primary or str(error)
        )
        where = [name for name in (diagnosis.table_name, diagnosis.column_name, diagnosis.constraint_name) if name]
        return f"{said} ({', '.join([error.sqlstate, *where])})"
    return str(error)


def log_unretrieved(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what a loop has to tell, as its exception handler; its own would show the task, and with it the message."""
    _log.error(context["message"], exc_info=context.get("exception"))


def _printable(line: dict[str, Any]) -> str:
    """Write a line with everything escaped that is not printable ASCII: one line for every reader and terminal."""
    try:
        written = orjson.dumps(line, option=orjson.OPT_UTC_Z)
    except TypeError:  # half a character, or a number beyond 64 bits
        pass
    else:
        if written.isascii() and b"\x7f" not in written:
            return written.decode()
    return json.dumps(line, separators=(",", ":"), default=datetime.isoformat).replace("\x7f", "\\u007f")


def _message(record: logging.LogRecord) -> str:
    args = record.args
    if isinstance(args, tuple) and any(isinstance(arg, BaseException) for arg in args):
        return str(record.msg) % tuple(describe(arg) if isinstance(arg, BaseException) else arg for arg in args)
    return record.getMessage()


def _describe(error: BaseException) -> str:
    """Return an error with its traceback, after those that it came from."""
    chain: list[BaseException] = []
    latest: BaseException | None = error
    while latest is not None and latest not in chain:
        chain.append(latest)
        latest = latest.__cause__ or (None if latest.__suppress_context__ else latest.__context__)
    return "\nwhich led to:\n\n".join(
        "".join(traceback.format_tb(one.__traceback__)) + f"{type(one).__qualname__}: {describe(one)}"
        for one in reversed(chain)
    )


class _Terminal(logging.StreamHandler[TextIO]):
    """Standard error; what cannot be written there can be told nowhere."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Leave the line out; a line that cannot be made is a fault of ours, of which the library tells."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


class LogFile(RotatingFileHandler):
    """A rotating file that looks at its size only: the library's own check formats every line twice.

    While it cannot be written, as on a full disk, the terminal is told once; and once more when it can be again.
    """

    _left_out = 0

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the library's name
        return self.stream is not None and os.fstat(self.stream.fileno()).st_size >= self.maxBytes

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; begin the file anew where lines before it could not be written."""
        before = self._left_out
        super().emit(record)
        if before and before == self._left_out:
            self._left_out = 0
            _say(f"The log {self.baseFilename} is written again; {before} lines are missing in it.")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Leave the line out, and say so if it is the first one."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        if not self._left_out:
            why = error.strerror or error
            _say(f"The log {self.baseFilename} cannot be written ({why}): lines are left out until it can be.")
        self._left_out += 1
        # What waits in its buffer would be written after what comes later, or fail each line from now on.
        stream, self.stream = self.stream, None  # the library opens it again
        with suppress(OSError):
            if stream is not None:
                stream.close()

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        # The line that was cut off must not begin the next one.
        if self._left_out and stream.tell():
            stream.write("\n")
        return stream


def _say(sentence: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()


def configure(program: str, *, terminal: str = "INFO", file: Path | None = None, plain: bool = False) -> None:
    """Send the log of the whole process, which is called `program`, to standard error, from level `terminal` on.

    With `file`, everything from INFO on goes there too; it is cut into five of 10 MB at most. With `plain`, standard
    error gets sentences for a person instead of JSON.
    """
    handlers: list[logging.Handler] = [_Terminal(sys.stderr)]
    handlers[0].setLevel(terminal)
    if file is not None:
        handlers.append(LogFile(file, maxBytes=10_000_000, backupCount=4, encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(JsonFormatter(program))
    if plain:
        handlers[0].setFormatter(PlainFormatter())
    # Nobody reads these, and finding them out takes a third of a log line's time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level="INFO", handlers=handlers, force=True)
    for chatty in ("httpx", "httpcore", "uvicorn", "psycopg.pool"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

"""Log lines as JSON, one object a line, each with the id of the request it belongs to."""

import logging
import os
import sys
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

import orjson

from chassis.request_context import request_id


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON; control characters are escaped by that."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if current := request_id.get():
            line["request_id"] = current
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line, option=orjson.OPT_UTC_Z).decode("utf-8")


class _LogFile(RotatingFileHandler):
    """A rotating file that looks at its size only: the library's own check formats every line twice."""

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the library's name
        return self.stream is not None and os.fstat(self.stream.fileno()).st_size >= self.maxBytes


def configure(*, terminal: str = "INFO", file: Path | None = None) -> None:
    """Send the log of the whole process to standard error, from level `terminal` on.

    With `file`, everything from INFO on goes there too; it is cut into five of 10 MB at most.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setLevel(terminal)
    if file is not None:
        handlers.append(_LogFile(file, maxBytes=10_000_000, backupCount=4, encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(JsonFormatter())
    # Nobody reads these, and finding them out takes a third of a log line's time.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level="INFO", handlers=handlers, force=True)
    for chatty in ("httpx", "httpcore", "uvicorn", "psycopg.pool"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

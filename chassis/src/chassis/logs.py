"""Log lines as JSON, one object a line, each with the id of the request it belongs to."""

import logging
import sys
from datetime import UTC, datetime

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


def configure(level: str = "INFO") -> None:
    """Send the log of the whole process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for chatty in ("httpx", "httpcore", "uvicorn.access", "psycopg.pool"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

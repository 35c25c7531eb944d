"""The audit log as a file: what is filtered, a part at a time, so that a slow reader holds nothing."""

from collections.abc import AsyncGenerator, Callable, Sequence
from enum import StrEnum

import orjson

from chassis.core.identity import Identity
from chassis.db.database import Database
from chassis.files.csv_writing import BYTE_ORDER_MARK, cell, csv_text
from chassis.web.listing import Row
from notification_service import notifications
from notification_service.queries import AuditQuery

_AT_ONCE = 200
_TEXTS = ("occurred_at", "actor", "action", "resource_type", "resource_title", "summary")
_JSON = ("changes", "details", "resource_ids")
_IDS = ("resource_id", "actor_id", "request_id", "gateway_request_id", "id")
COLUMNS = (*_TEXTS, *_JSON, *_IDS)


class AuditFormat(StrEnum):
    """Forms of the audit log as a file."""

    CSV = "csv"
    NDJSON = "ndjson"


def _as_csv(rows: Sequence[Row]) -> bytes:
    return csv_text([[cell(_flat(row[name])) for name in COLUMNS] for row in rows]).encode()


def _flat(value: object) -> object:
    return orjson.dumps(value, option=orjson.OPT_UTC_Z).decode().strip('"') if _is_compound(value) else value


def _is_compound(value: object) -> bool:
    return value is not None and not isinstance(value, str | int)


def _as_ndjson(rows: Sequence[Row]) -> bytes:
    return b"".join(orjson.dumps(row, option=orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE) for row in rows)


_FORMS: dict[AuditFormat, tuple[str, bytes, Callable[[Sequence[Row]], bytes]]] = {
    AuditFormat.CSV: (
        "text/csv; charset=utf-8; header=present",
        (BYTE_ORDER_MARK + csv_text([COLUMNS])).encode(),
        _as_csv,
    ),
    AuditFormat.NDJSON: ("application/x-ndjson", b"", _as_ndjson),
}


def media_type_of(form: AuditFormat) -> str:
    """Return the media type of a form."""
    return _FORMS[form][0]


async def write(
    database: Database, reader: Identity, query: AuditQuery, form: AuditFormat
) -> AsyncGenerator[bytes, None]:
    """Yield the file; what is written meanwhile is not in it, for the newest come first."""
    _, beginning, written = _FORMS[form]
    rows, end = await notifications.find_more_entries(database, reader, query, None, _AT_ONCE)
    yield beginning + written(rows)
    while end is not None:
        rows, end = await notifications.find_more_entries(database, reader, query, end, _AT_ONCE)
        yield written(rows)

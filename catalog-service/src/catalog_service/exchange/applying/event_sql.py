"""Events made by SQL: the same envelopes as `NewEvent.envelope` writes, for many changes by one statement."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from catalog_service.exchange.applying.job import Job
from catalog_service.exchange.uuids import uuid_of
from chassis.messaging.events import NewEvent
from chassis.messaging.payloads import Payload
from contracts.catalog import ImportApplied

_RFC_3339 = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
_OF_ONE = ("id", "subject", "time")
"""What the events of a batch do not have in common."""


def moment(column: str) -> str:
    """Return the SQL of a time as JSON has it; null stays null."""
    return f"to_char({column}, '{_RFC_3339}')"


def state(columns: Iterable[str], alias: str, **written: str) -> str:
    """Return the SQL of the JSON object of some columns; `written` are those that are put in otherwise."""
    selected = ", ".join(f"{written.get(name, f'{alias}.{name}')} AS {name}" for name in columns)
    return f"(SELECT row_to_json(state) FROM (SELECT {selected}) AS state)"


def changes(columns: Iterable[str]) -> str:
    """Return the SQL of `changes` of an update: each `before` is what the row `changed.present` says."""
    return f"""coalesce((
        SELECT json_object_agg(one.key, json_build_object('before', said -> one.key, 'after', one.value -> 'after'))
        FROM json_each(changed.changes) AS one, {state(columns, "(changed.present)")} AS before(said)
        WHERE said -> one.key IS NOT NULL
    ), '{{}}')"""


def insert(*parts: tuple[type[Payload], str, str]) -> str:
    """Return the INSERT of an event for each row of the sources, one source after the other, in order of `place`.

    `parts` are (payload, the SQL of its JSON over the alias `changed`, source). A row has `id` (its subject), `time`.
    """
    envelopes = " UNION ALL ".join(
        f"""
        SELECT {part} AS part, changed.place, event_id, '{payload.wire_name}' AS wire_name,
            '{{"id":"' || event_id || '","subject":"' || changed.id || '","time":"' || changed.time || '",'
            || %({_name(payload)})s || ',"data":' || {data} || '}}' AS envelope
        FROM {source} AS changed CROSS JOIN LATERAL ({_event_id(payload)}) AS one(event_id)
        """
        for part, (payload, data, source) in enumerate(parts)
    )
    return f"""
        INSERT INTO outbox (event_id, wire_name, envelope)
        SELECT event_id, wire_name, envelope FROM ({envelopes}) AS event ORDER BY part, place
    """


def _event_id(payload: type[Payload]) -> str:
    """Return the query of an event's id: as an import does the same to a subject but once, it is made of these.

    Not a random one, since PostgreSQL opens a file for each where it is built without OpenSSL.
    """
    digest = f"md5(%(job)s::text || '{payload.wire_name}' || changed.id)"
    # OFFSET 0: made once, though it stands in two places.
    return f"SELECT {uuid_of(digest)} OFFSET 0"


def heads(job: Job, payloads: Iterable[type[Payload]]) -> dict[str, Any]:
    """Return the parameters of `insert`: what all events of an import have in common, by payload."""
    return {_name(payload): _head(job, payload) for payload in payloads}


def head(job: Job) -> str:
    """Return what the events of an import have in common, whatever they tell, as JSON."""
    return f"{{{_head(job, ImportApplied)}}}"


def event(job: Job, data: Payload, at: datetime) -> NewEvent:
    """Return an event of the import by itself."""
    return NewEvent(
        data,
        str(job.id),
        job.actor,
        time=at,
        correlation_id=job.correlation_id,
        gateway_request_id=job.gateway_request_id,
        batch_id=job.id,
    )


def _head(job: Job, payload: type[Payload]) -> str:
    of_any = NewEvent(
        payload.model_construct(),
        "",
        job.actor,
        id=UUID(int=0),
        correlation_id=job.correlation_id,
        gateway_request_id=job.gateway_request_id,
        batch_id=job.id,
    ).attributes()
    common = {name: value for name, value in of_any.items() if name not in _OF_ONE}
    return orjson.dumps(common)[1:-1].decode()


def _name(payload: type[Payload]) -> str:
    return f"head_{payload.__name__}"

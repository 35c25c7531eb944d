"""What gateways notice of requests and the audit log has to have, told every few seconds: no request waits for it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import BaseModel

from auth_service.api_tokens import service as api_tokens
from auth_service.throttle.service import ANONYMOUS
from auth_service.users import repository as users
from chassis.db.database import Database, Db
from chassis.messaging import outbox
from chassis.messaging.events import Actor, NewEvent
from chassis.web.callers import ServiceCaller
from chassis.web.strict_route import StrictRoute
from contracts.auth import AccessRefused, DataRead, Requests

router = APIRouter(prefix="/internal", route_class=StrictRoute, include_in_schema=False)


class Notice(Requests):
    """Requests that the audit log tells of together, by the events AccessRefused and DataRead.

    A gateway that got no answer tells the same again: its `id` is that of the event.
    `request_id` and `gateway_request_id` are those of the last request.
    """

    id: UUID
    at: datetime
    user_id: int | None
    request_id: str
    gateway_request_id: str


class Refusal(Notice):
    """Requests that were refused."""

    status: int
    reason: str


class Reading(Notice):
    """Documents that somebody was given, or reads of the audit log."""

    what: Literal["export", "audit_log"]


class Use(BaseModel):
    """From where, and with what, an API token was used."""

    api_token_id: int
    address: str
    agent: str
    at: datetime


class Notices(BaseModel):
    """What a gateway has noticed since it last told."""

    refusals: list[Refusal] = []
    readings: list[Reading] = []
    uses: list[Use] = []


@router.put("/access-notices", status_code=204)
async def report(body: Notices, database: Db, _: ServiceCaller) -> Response:
    """Take what a gateway has noticed."""
    await _take(database, body)
    return Response(status_code=204)


async def _take(database: Database, seen: Notices) -> None:
    notices: Sequence[Refusal | Reading] = [*seen.refusals, *seen.readings]
    async with database.transaction() as connection:
        again = await outbox.recorded_lately(connection, [one.id for one in notices]) if notices else set()
        notices = [one for one in notices if one.id not in again]
        # As they are called now: the token of a person who was erased still has the address.
        known = await users.shown(connection, [one.user_id for one in notices if one.user_id is not None])
        actors = {id_: Actor(id_, row["email"]) for id_, row in known.items()}
        await outbox.record(connection, [_event(one, actors.get(one.user_id or 0, ANONYMOUS)) for one in notices])
        for use in seen.uses:
            await api_tokens.used_from(connection, use.api_token_id, use.address, use.agent, use.at)


def _event(notice: Refusal | Reading, actor: Actor) -> NewEvent:
    payload = AccessRefused if isinstance(notice, Refusal) else DataRead
    return NewEvent(
        payload.model_validate(notice, from_attributes=True),
        subject=str(actor.id or actor.email),
        actor=actor,
        id=notice.id,
        time=notice.at,
        correlation_id=notice.request_id,
        gateway_request_id=notice.gateway_request_id,
        project=notice.project or "",
    )

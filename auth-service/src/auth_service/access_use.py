"""What gateways tell of the use of tokens and sessions, in one request each minute: no request waits for a write."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, StringConstraints

from auth_service.api_tokens import service as api_tokens
from auth_service.open_sessions import repository, service
from chassis.db.database import Db
from chassis.web.callers import ServiceCaller
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/internal", route_class=StrictRoute, include_in_schema=False)

_Short = Annotated[str, StringConstraints(max_length=300)]


class Seen(BaseModel):
    """When, from where and with what somebody was seen last."""

    at: datetime
    address: _Short
    agent: _Short


class Use(BaseModel):
    """When API tokens were last used, and where sessions were seen last, by their ids."""

    api_tokens: dict[int, datetime] = {}
    sessions: dict[str, Seen] = {}


@router.put("/access-use", status_code=204)
async def report_use(body: Use, database: Db, _: ServiceCaller) -> Response:
    """Take what a gateway has seen since it last told."""
    if body.api_tokens:
        await api_tokens.used(database, body.api_tokens)
    if body.sessions:
        seen = {id_: repository.Seen(one.at, one.address, one.agent) for id_, one in body.sessions.items()}
        await service.seen(database, seen)
    return Response(status_code=204)

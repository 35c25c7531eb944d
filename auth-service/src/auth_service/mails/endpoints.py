"""The HTTP door to mails that strangers may ask for."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from auth_service import asked_mails
from auth_service.addresses import client_address
from auth_service.throttle import hourly
from auth_service.users.schemas import Email
from chassis.core.problems import Conflict
from chassis.db.database import Db
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Authentication"])

_PER_HOUR = 5


class ForgottenPassword(BaseModel):
    """Who forgot their password."""

    email: Email


class Asked(BaseModel):
    """What is done now, for every address alike."""

    detail: str


@router.post(
    "/auth/forgot-password",
    summary="Ask for a mail with a link by which you choose a new password",
    status_code=202,
    response_model=Asked,
    responses=problem_responses("409 no_mail", 429),
)
async def forgot_password(body: ForgottenPassword, request: Request, database: Db) -> Response:
    """The answer is the same for every address, whether it has an account or not. `no_mail`: none are sent here."""
    if not request.app.state.sends_mail:
        raise Conflict("No mails are sent here: ask an admin for a link.", code="no_mail")
    await hourly.take(database, "forgot-password", client_address(request), _PER_HOUR)
    async with database.statement() as connection:
        await asked_mails.ask(connection, asked_mails.RESET, body.email)
    return answer({"detail": "If this address has an account, a mail with a link is on its way."}, 202)

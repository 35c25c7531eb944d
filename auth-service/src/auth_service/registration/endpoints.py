"""The HTTP door to what strangers may do to get in."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from auth_service.registration.policy import Mode, RegistrationPolicy
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute, tags=["Authentication"])


class WaysIn(BaseModel):
    """How somebody without a session gets one, beside a password."""

    registration: Annotated[Mode, Field(description="Who may register.")]
    domains: Annotated[list[str], Field(description="With `domains`: those of which an address has to be.")]
    sends_mail: Annotated[bool, Field(description="Whether a forgotten password is helped by mail.")]
    single_sign_on: Annotated[
        Literal["none", "offered", "only"],
        Field(description="Whether `/api/v1/auth/oidc/login` leads anywhere; `only`: passwords let nobody in."),
    ]


@router.get("/auth/ways-in", summary="Read how to get in", response_model=WaysIn)
async def get_ways_in(request: Request) -> Response:
    """What a page for signing in offers: registering, and a mail for a forgotten password."""
    policy: RegistrationPolicy = request.app.state.registration
    return answer(
        {
            "registration": policy.mode,
            "domains": sorted(policy.domains),
            "sends_mail": request.app.state.sends_mail,
            "single_sign_on": _single_sign_on(request),
        },
        headers={"Cache-Control": "no-store"},
    )


def _single_sign_on(request: Request) -> str:
    if request.app.state.single_sign_on is None:
        return "none"
    return "offered" if request.app.state.passwords_work else "only"

"""The HTTP door to second factors."""

import segno
from fastapi import APIRouter, Request, Response

from auth_service.addresses import client_address
from auth_service.second_factor import repository, service
from auth_service.second_factor.schemas import Beginning, Begun, Confirmation, Proof, RecoveryCodes, SecondFactor
from auth_service.users.endpoints import UserId
from auth_service.users.passwords import PasswordPort
from chassis.core.encryption import Cipher
from chassis.core.identity import Identity
from chassis.db.database import Db
from chassis.web.callers import Admin, Viewer
from chassis.web.problem_documents import problem_responses
from chassis.web.responses import answer
from chassis.web.strict_route import StrictRoute

router = APIRouter(prefix="/api/v1", route_class=StrictRoute)

_NO_STORE = {"Cache-Control": "no-store"}
_WRONG = (
    *(401, "401 invalid_credentials", "401 second_factor_invalid", "401 second_factor_used"),
    *("409 no_second_factor", 429),
)


@router.get(
    "/auth/second-factor",
    tags=["Authentication"],
    summary="Read whether you have a second factor",
    response_model=SecondFactor,
)
async def get_second_factor(request: Request, database: Db, viewer: Viewer) -> Response:
    """A second factor is a code that a phone shows anew each half minute, beside the password."""
    assert viewer.id is not None, "only users have one"
    async with database.connection() as connection:
        found = await repository.find(connection, viewer.id)
    is_active = found is not None and found["confirmed_at"] is not None
    return answer(
        {
            "is_active": is_active,
            "is_required": request.app.state.second_factor_required.holds_for(viewer.role),
            "recovery_codes_left": len(found["recovery_hashes"]) if found is not None and is_active else 0,
        },
        headers=_NO_STORE,
    )


@router.post(
    "/auth/second-factor",
    tags=["Authentication"],
    summary="Begin to have a second factor",
    response_model=Begun,
    responses=problem_responses(401, "401 invalid_credentials", "409 second_factor_active", 429),
)
async def begin_second_factor(
    body: Beginning, request: Request, database: Db, passwords: PasswordPort, viewer: Viewer
) -> Response:
    """It counts once a code of it is confirmed; beginning anew forgets the secret from before."""
    password, address = body.password.get_secret_value(), client_address(request)
    secret, uri = await service.begin(database, passwords, _cipher(request), viewer, address, password)
    qr = segno.make(uri).svg_data_uri(border=2, light="#fff")
    return answer({"secret": secret, "uri": uri, "qr": qr}, headers=_NO_STORE)


@router.post(
    "/auth/second-factor/confirm",
    tags=["Authentication"],
    summary="Have your second factor count, by a code of it",
    response_model=RecoveryCodes,
    responses=problem_responses("409 second_factor_not_begun"),
)
async def confirm_second_factor(body: Confirmation, request: Request, database: Db, viewer: Viewer) -> Response:
    """From now on logging in takes a code, too. Keep the recovery codes elsewhere: each works once."""
    codes = await service.confirm(database, _cipher(request), viewer, body.code.get_secret_value())
    return answer({"recovery_codes": codes}, headers=_NO_STORE)


@router.post(
    "/auth/second-factor/recovery-codes",
    tags=["Authentication"],
    summary="Make new recovery codes",
    response_model=RecoveryCodes,
    responses=problem_responses(*_WRONG),
)
async def renew_recovery_codes(
    body: Proof, request: Request, database: Db, passwords: PasswordPort, viewer: Viewer
) -> Response:
    """Those from before work no more."""
    claim = _claim(body, request, viewer)
    codes = await service.renew_recovery_codes(database, passwords, _cipher(request), claim)
    return answer({"recovery_codes": codes}, headers=_NO_STORE)


@router.post(
    "/auth/second-factor/remove",
    tags=["Authentication"],
    summary="Remove your second factor",
    status_code=204,
    response_class=Response,
    responses=problem_responses(*_WRONG),
)
async def remove_second_factor(
    body: Proof, request: Request, database: Db, passwords: PasswordPort, viewer: Viewer
) -> Response:
    """From now on the password is enough. Wrong passwords and codes count as failed log-ins."""
    await service.remove(database, passwords, _cipher(request), _claim(body, request, viewer))
    return Response(status_code=204)


@router.delete(
    "/users/{user_id}/second-factor",
    tags=["Users"],
    summary="Remove the second factor of a user",
    status_code=204,
    response_class=Response,
    responses=problem_responses("404 user_not_found"),
)
async def remove_second_factor_of_user(user_id: UserId, database: Db, admin: Admin) -> Response:
    """For somebody whose phone and recovery codes are lost. Their sessions end; without one, nothing happens."""
    await service.take_away_by_admin(database, admin, user_id)
    return Response(status_code=204)


def _cipher(request: Request) -> Cipher | None:
    """Return what encrypts secrets in the database; None: nothing does."""
    cipher: Cipher | None = request.app.state.cipher
    return cipher


def _claim(body: Proof, request: Request, viewer: Identity) -> service.Claim:
    password, code = body.password.get_secret_value(), body.code.get_secret_value()
    return service.Claim(viewer, client_address(request), password, code)

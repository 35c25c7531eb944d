"""Access tokens: JWTs that anybody can check with the public keys."""

import uuid
from datetime import datetime, timedelta

import jwt

from auth_service.signing_keys.service import SigningKey
from auth_service.users.repository import UserRow
from contracts.tokens import ALGORITHM, AUDIENCE, AUTH_TIME, ISSUER, MUST_CHANGE_PASSWORD, MUST_ENROL, SESSION_ID, TYPE


def issue(
    user: UserRow,
    key: SigningKey,
    now: datetime,
    lifetime: timedelta,
    session_id: str,
    logged_in_at: float | None = None,
    *,
    must_enrol: bool = False,
) -> str:
    """Return a token for `user` that lives from `now` (of the database's clock) for `lifetime`.

    `must_enrol`: it is good for having a second factor alone.
    `logged_in_at` is in seconds since the epoch; None: they log in now, and the session has its first token.
    """
    issued_at = now.timestamp()
    owed = {MUST_CHANGE_PASSWORD: user["must_change_password"], MUST_ENROL: must_enrol}
    claims = {claim: True for claim, is_owed in owed.items() if is_owed}
    return jwt.encode(
        {
            **claims,
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": str(user["id"]),
            "role": user["role"],
            "email": user["email"],
            "iat": issued_at,
            "exp": issued_at + lifetime.total_seconds(),
            "jti": session_id if logged_in_at is None else uuid.uuid4().hex,
            SESSION_ID: session_id,
            AUTH_TIME: issued_at if logged_in_at is None else logged_in_at,
        },
        key.private_key,
        algorithm=ALGORITHM,
        headers={"kid": key.kid, "typ": TYPE},
    )

"""The bearer token of a request, and the problems of one that does not pass.

What they say helps whoever has a token of their own; of one whose signature is not right they say no more than that.
"""

import re

from chassis.core.identity import Identity
from chassis.core.problems import Forbidden, Unauthenticated

_SCHEME = "Bearer"
_TOKEN = re.compile(r"[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]*")
_MALFORMED, _UNKNOWN, _EXPIRED, _ENDED = "malformed_token", "unknown_token", "expired_token", "ended_token"
_HOW = "log in at /api/v1/auth/login and send the access token as 'Authorization: Bearer <ACCESS_TOKEN>'."


class RefusedToken(Unauthenticated):
    """A token that does not pass; `reason` is a stable code for the audit log, `identity` whose it is or was."""

    def __init__(self, detail: str, reason: str, identity: Identity | None = None) -> None:
        super().__init__(detail)
        self.reason = reason
        self.identity = identity


def read(authorization: bytes | None) -> str:
    """Return the token of an Authorization header; raise Unauthenticated when there is none, or what is no token."""
    if not authorization:
        raise RefusedToken(f"This address needs an access token: {_HOW}", "no_token")
    scheme, _, token = authorization.decode("latin-1").partition(" ")
    if scheme.lower() != _SCHEME.lower() or not token:
        raise RefusedToken(f"The Authorization header is not 'Bearer' and a token: {_HOW}", _MALFORMED)
    if token.lower().startswith(_SCHEME.lower()):
        raise RefusedToken(
            "'Bearer' stands twice in the Authorization header; send it once, before the token.", _MALFORMED
        )
    return token


def check_form(token: str, longest: int) -> None:
    """Raise Unauthenticated for what cannot be a token of at most `longest` characters, whoever signed it."""
    if len(token) > longest or not _TOKEN.fullmatch(token):
        raise RefusedToken(
            "What follows 'Bearer' is no access token, which is three parts with dots between them; copy it whole from"
            " the answer of /api/v1/auth/login, without quotes.",
            _MALFORMED,
        )


def invalid() -> RefusedToken:
    """Return the problem of a token that was not issued here, or was changed since; it does not say what is wrong."""
    return RefusedToken(f"This access token is not one of this Traceline, or is not whole: {_HOW}", _UNKNOWN)


def expired(identity: Identity | None) -> RefusedToken:
    """Return the problem of a token whose time is over."""
    return RefusedToken("This access token has expired; log in again at /api/v1/auth/login.", _EXPIRED, identity)


def ended(identity: Identity) -> RefusedToken:
    """Return the problem of a token that works no more although its time is not over."""
    return RefusedToken(
        "This access token works no more: its user has logged out, changed the password or been deactivated since;"
        " log in again at /api/v1/auth/login.",
        _ENDED,
        identity,
    )


def password_change_required() -> Forbidden:
    """Return the problem of a token whose user has to choose a password of their own first."""
    return Forbidden(
        "Your password was chosen by somebody else: choose another first, by POST /api/v1/auth/change-password with"
        " current_password and new_password, then log in with it.",
        code="password_change_required",
    )


def second_factor_enrolment_required() -> Forbidden:
    """Return the problem of a token whose user has to have a second factor first."""
    return Forbidden(
        "A second factor is required here: have one, by POST /api/v1/auth/second-factor and /confirm, then renew the"
        " token or log in again.",
        code="second_factor_enrolment_required",
    )


def no_api_token() -> RefusedToken:
    """Return the problem of what begins as an API token and cannot be one, whoever made it."""
    return RefusedToken(
        "This is no whole API token: it has 40 characters, of which the last 6 must fit the others; copy it again.",
        _MALFORMED,
    )


def not_for_addresses() -> RefusedToken:
    """Return the problem of a token in an address that may do more than show a badge."""
    return RefusedToken(
        "A token in an address may have the scope 'badge' alone; make one that has no other.", _MALFORMED
    )


def unknown_api_token() -> RefusedToken:
    """Return the problem of an API token that nobody here has; it does not say whether anybody had."""
    return RefusedToken("This API token is not one of this Traceline; make one at /api/v1/auth/tokens.", _UNKNOWN)


def expired_api_token(identity: Identity) -> RefusedToken:
    """Return the problem of an API token whose time is over."""
    return RefusedToken("This API token has expired; make a new one at /api/v1/auth/tokens.", _EXPIRED, identity)


def ended_api_token(identity: Identity) -> RefusedToken:
    """Return the problem of an API token that works no more although its time is not over."""
    return RefusedToken(
        "This API token works no more: it was revoked, or its owner has changed the password or been deactivated since;"
        " make a new one at /api/v1/auth/tokens.",
        _ENDED,
        identity,
    )

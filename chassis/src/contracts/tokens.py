"""What a bearer token of auth-service is: who checks one needs this, the public keys and the events."""

from datetime import timedelta

ISSUER = "traceline"
AUDIENCE = "traceline-api"
ALGORITHM = "EdDSA"
TYPE = "at+jwt"
"""The `typ` of the header: an access token (RFC 9068), and no other kind of JWT that the same key may sign."""
REQUIRED_CLAIMS = ("iss", "aud", "sub", "role", "email", "iat", "exp", "jti")
"""`sub` is the user's id as a string; `iat` and `exp` are seconds with a fraction of microseconds.

A token is refused when `iat < tokens_not_before` of its user: whole seconds could not tell a token issued just
before a change of password from one issued just after it.
"""
AUTH_TIME = "auth_time"
"""A claim (OpenID Connect): when the user logged in, as `iat`. A renewed token has that of the one before; tokens of
older programs have none, and were issued at a log-in."""

SESSION_ID = "sid"
"""A claim: of which session a token is, the same when it is renewed. Older tokens have none: each is one."""

MUST_CHANGE_PASSWORD = "must_change_password"  # noqa: S105 - the name of a claim
"""A claim: the user has a password that somebody else chose. Such a token is good for choosing another."""

MUST_ENROL = "must_enrol"
"""A claim: the user has to have a second factor and has none. Such a token is good for having one."""

LONGEST_LIFETIME = timedelta(days=30)
"""No token lives longer, whatever the settings say: what restricts old tokens may be forgotten after this."""

RENEWABLE = timedelta(hours=12)
"""After the log-in; then somebody has to type the password again."""

"""Where the access token of a request is: in its Authorization header, else in the cookie of a session."""

from collections.abc import Mapping

from starlette.types import Scope

from gateway.auth import bearer
from gateway.auth.cross_site import CrossSite
from gateway.auth.session_cookie import SessionCookie

Sent = Mapping[bytes, bytes]
"""The headers of a request that the gateway reads itself, by their names in lower case."""


class Credentials:
    """Finds tokens; `public_url` is the address that people use, where it is known."""

    def __init__(self, public_url: str | None) -> None:
        self._cookie = SessionCookie(public_url)
        self._cross_site = CrossSite(public_url)
        # Lax, since who comes back from an identity provider comes from another site.
        self._sign_in = SessionCookie(public_url, suffix="-sign-in", same_site="Lax")

    def token(self, scope: Scope, sent: Sent) -> str:
        """Return the token of a request.

        Raises Unauthenticated where there is none, and Forbidden where a page of another site had a cookie sent.
        """
        authorization = sent.get(b"authorization")
        if authorization is None and b"cookie" in sent:
            token = self.of_session(scope, sent)
            if token is not None:
                self._cross_site.check(scope["method"], _scheme(scope), sent)
                return token
        return bearer.read(authorization)

    def of_session(self, scope: Scope, sent: Sent) -> str | None:
        """Return the token in the cookie of a session; None where there is none."""
        return self._cookie.read(_text(sent, b"cookie"), _text(sent, b"host"), _scheme(scope))

    def keep(self, scope: Scope, sent: Sent, token: str, max_age: int) -> str:
        """Return the Set-Cookie header that makes a session of a token, for `max_age` seconds; 0 ends it."""
        return self._cookie.of(token, max_age, _text(sent, b"host"), _scheme(scope))

    def browser(self, scope: Scope, sent: Sent) -> str | None:
        """Return the secret of a browser in which somebody signs in at an identity provider; None: it has none."""
        return self._sign_in.read(_text(sent, b"cookie"), _text(sent, b"host"), _scheme(scope))

    def keep_browser(self, scope: Scope, sent: Sent, secret: str, max_age: int) -> str:
        """Return the Set-Cookie header that has a browser keep such a secret, for `max_age` seconds."""
        return self._sign_in.of(secret, max_age, _text(sent, b"host"), _scheme(scope))

    def check_own_page(self, scope: Scope, sent: Sent) -> None:
        """Raise Forbidden where a browser sends what is not of Traceline's own page."""
        if b"origin" in sent or b"sec-fetch-site" in sent or self.of_session(scope, sent) is not None:
            self._cross_site.check(scope["method"], _scheme(scope), sent)


def _scheme(scope: Scope) -> str:
    scheme: str = scope.get("scheme", "http")
    return scheme


def _text(sent: Sent, name: bytes) -> str:
    return sent.get(name, b"").decode("latin-1")

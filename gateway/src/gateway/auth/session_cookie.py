"""The cookie of a session: the access token itself, where no script of a page can read it."""

import re
from urllib.parse import urlsplit

_PORT = re.compile(r":([0-9]{1,5})$")
_OF_SCHEME = {"http": 80, "https": 443}
_COMMON = "Path=/; HttpOnly; SameSite="


class SessionCookie:
    """Reads and writes the cookie; `public_url` is the address that people use, where it is known.

    Over https it is `__Host-traceline`, which no other host or path can set. Over http it has the port in its name:
    browsers keep cookies of all ports of a host together, and some refuse Secure there.
    """

    def __init__(self, public_url: str | None, *, suffix: str = "", same_site: str = "Strict") -> None:
        """`suffix` ends the name of another cookie of the same kind."""
        self._suffix = suffix
        self._same_site = same_site
        self._is_secure = False
        self._fixed_name: str | None = None
        if public_url is not None:
            url = urlsplit(public_url)
            self._is_secure = url.scheme == "https"
            self._fixed_name = f"__Host-traceline{suffix}" if self._is_secure else f"traceline-{url.port or 80}{suffix}"

    def read(self, header: str, host: str, scheme: str) -> str | None:
        """Return the token in a Cookie header; None when there is none, or when it is there twice.

        Of two that a server on another port of this host could have set one, neither is sure to be ours.
        """
        name = self._name(host, scheme)
        pairs = [part.strip().partition("=") for part in header.split(";")]
        found = [value for one, _, value in pairs if one == name]
        return found[0] if len(found) == 1 and found[0] else None

    def of(self, token: str, max_age: int, host: str, scheme: str) -> str:
        """Return the Set-Cookie header that keeps `token` for `max_age` seconds; 0 removes it."""
        secure = "; Secure" if self._is_secure else ""
        return f"{self._name(host, scheme)}={token}; Max-Age={max_age}; {_COMMON}{self._same_site}{secure}"

    def _name(self, host: str, scheme: str) -> str:
        if self._fixed_name is not None:
            return self._fixed_name
        # The port that the browser uses, which is the same for each of several gateways.
        port = _PORT.search(host)
        return f"traceline-{port[1] if port else _OF_SCHEME.get(scheme, 80)}{self._suffix}"

"""Refuses what a page of another site has a browser send with the cookie of a session."""

import re
from collections.abc import Mapping

from chassis.core.problems import Forbidden

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORT = re.compile(r"^(http://.*):80$|^(https://.*):443$")


class CrossSite:
    """Knows Traceline's own origin: PUBLIC_URL; without it what the request is addressed to.

    That is no name of others then (`gateway.auth.hosts`).
    """

    def __init__(self, public_url: str | None) -> None:
        self._public = None if public_url is None else _DEFAULT_PORT.sub(r"\1\2", public_url).encode()

    def check(self, method: str, scheme: str, sent: Mapping[bytes, bytes]) -> None:
        """Raise Forbidden `cross_site_request` unless the request comes from the own page.

        `sent` are its headers. What only reads may also be opened by a person, or come from what is no browser.
        """
        is_safe = method in _SAFE
        site = sent.get(b"sec-fetch-site")
        if site is not None:  # the browser says so, and no page can change it
            if site == b"same-origin" or (is_safe and site == b"none"):
                return
        elif is_safe or self.is_own(sent.get(b"origin"), scheme, sent.get(b"host", b"")):
            return
        raise Forbidden(
            "This was not sent by Traceline's own page, and a session works for nobody else. If it was, PUBLIC_URL must"
            " be set to the address in the browser. Programs send 'Authorization: Bearer <ACCESS_TOKEN>' instead.",
            code="cross_site_request",
        )

    def is_own(self, origin: bytes | None, scheme: str, host: bytes) -> bool:
        """Check whether a request that was addressed to `host` comes from a page of Traceline itself."""
        if origin is None:
            return False
        if self._public is not None:
            return origin == self._public
        return origin == b"%b://%b" % (scheme.encode(), host)

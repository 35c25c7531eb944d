"""By which names Traceline may be asked for: a page whose name is made to lead here is no page of ours."""

import re
from urllib.parse import urlsplit

from chassis.core.problems import Misdirected

_LONGEST_SHOWN = 100

_HERE = rb"(?:[a-z0-9-]+\.)*localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:.]+\]"
"""Hosts that no name server of others can point here: addresses, and names of this machine."""


class Hosts:
    """Knows the hosts of requests that are answered: addresses, localhost, and the name of PUBLIC_URL.

    To a browser a page is of the same origin as what its own name leads to, so what it sends looks as if our page had
    sent it.
    """

    def __init__(self, public_url: str | None) -> None:
        known = _HERE
        if public_url is not None:
            name = re.sub(r":[0-9]+$", "", urlsplit(public_url).netloc)
            known += b"|" + re.escape(name.encode())
        self._known = re.compile(rb"(?:%b)(?::[0-9]{1,5})?" % known, re.IGNORECASE)

    def check(self, host: bytes) -> None:
        """Raise Misdirected unless a request with this Host header is for us; ports say nothing, proxies change them.

        Those who probe by address need no name.
        """
        if self._known.fullmatch(host) is None:
            shown = host[:_LONGEST_SHOWN].decode("ascii", "replace")
            raise Misdirected(
                f"This Traceline does not go by the name '{shown}', so it answers nothing there. If it should, set"
                " PUBLIC_URL to the address that people open; by its IP address and as localhost it always answers."
            )

"""Where an item comes from: an address that people click on, or a text that is none.

A page that shows it makes a link of what looks like one: schemes are taken by a list, so that no click runs a script,
starts a program or opens a share of a network.
"""

import re
from collections.abc import Iterable

from chassis.core.problems import Invalid

KNOWN = ("http", "https", "mailto")
RUNNING = frozenset({"javascript", "vbscript", "data"})
"""Schemes of what a browser runs as a script: allowed by no setting."""
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+):[0-9]{1,5}([/?#]|$)", re.IGNORECASE)
_SHARE = re.compile(r"[/\\]{2}")


class SourceUrls:
    """The addresses that are accepted; `more` are schemes beside http, https and mailto."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        self._schemes = tuple(dict.fromkeys((*KNOWN, *more)))

    def check(self, url: str | None) -> None:
        """Raise Invalid unless `url` is none, an address of an accepted scheme, or a text without a scheme."""
        if url is None:
            return
        # Browsers pass over control characters when they look for the scheme, and pages that show the address over any
        # white space and invisible characters before it.
        seen = "".join(character for character in url if character.isprintable() and not character.isspace())
        if _SHARE.match(seen):
            raise Invalid.field(
                "/source_url",
                "An address that begins with two slashes opens a share of a network; begin it with https://.",
                "unsafe_url",
            )
        found = _SCHEME.match(seen)
        if found is None or found[1].lower() in self._schemes or _HOST_AND_PORT.match(seen):
            return
        raise Invalid.field(
            "/source_url",
            f"An address with '{found[0][:50]}' is not accepted; use {', '.join(self._schemes)}, or a text without a"
            " scheme. Who runs Traceline may allow more schemes by SOURCE_URL_SCHEMES.",
            "unsafe_url",
        )

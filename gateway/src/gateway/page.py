"""The web page: its built files, from memory, and the policy under which browsers show them.

`static/` holds what the build of gateway/frontend makes: `index.html`, `assets/` with a hash in each name, a `.br` and
a `.gz` beside what is text, and `csp-hashes.json`: the hashes of styles that packages bring in as elements, as
`["sha256-..."]`. Without `index.html` there is no page, and `not-built.txt`, where it is there, says why.
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import Response

from chassis.core.problems import NotFound
from chassis.core.start_failure import StartFailure
from chassis.core.wording import NO_ADDRESS
from chassis.web.responses import etag
from gateway.routing.encodings import accepts

STATIC = Path(__file__).with_name("static")
ASSETS = "/assets/"
_INDEX = "index.html"
_HASHES = "csp-hashes.json"
_REASON = "not-built.txt"
_HASH = re.compile(r"sha(256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)")
_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""Of what a build makes. A table of the system's would be another on each."""
_TWINS = ((b"br", ".br"), (b"gzip", ".gz"))
"""The better one first."""
_ADDRESSES = frozenset(
    {"/", "/sign-in", "/register", "/accept-invitation", "/forgot-password", "/reset-password", "/p"}
)
_OF_PROJECTS = "/p/"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_ALONE = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_ASK_FIRST = {"Cache-Control": "no-cache"}

_FOR_BROWSERS = "This is a page for browsers; the API is below /api/v1, and /docs describes it."
_NOT_BUILT = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Traceline</title></head>
<body><h1>The page of Traceline is not here</h1>
<p>{reason} Where the npm registry can be reached, stop Traceline and start it again with <code>make demo</code>,
<code>make run</code> or <code>make stack</code>, which build the page first.</p>
<p>The API works: <a href="/docs">its description</a>.</p></body></html>
"""
_WHY = "This Traceline was started without the page having been built."


@dataclass(frozen=True, slots=True)
class _File:
    """One file, in each coding that there is of it: its content and its ETag, the plain one under None."""

    media_type: str
    headers: Mapping[str, str]
    contents: Mapping[bytes | None, tuple[bytes, str]]

    def response(self, accept_encoding: bytes | None, if_none_match: bytes) -> Response:
        coding = next((one for one in self.contents if one is not None and accepts(accept_encoding, one)), None)
        content, tag = self.contents[coding]
        headers = {**self.headers, "ETag": tag}
        if len(self.contents) > 1:
            headers["Vary"] = "Accept-Encoding"
        if tag.encode() in if_none_match:
            return Response(status_code=304, headers=headers)
        if coding is not None:
            headers["Content-Encoding"] = coding.decode()
        return Response(content, headers=headers, media_type=self.media_type)


class Page:
    """Answers what browsers ask of the page, at the addresses for which `is_here` is true."""

    def __init__(self, folder: Path = STATIC) -> None:
        """Read the files of `folder`; raise StartFailure when they are not what the build makes."""
        self._files: dict[str, _File] = {}
        self._why = _WHY
        if (folder / _INDEX).is_file():
            self._headers = {"Content-Security-Policy": _policy(folder / _HASHES), **_ALONE}
            self._read(folder)
        elif (folder / _REASON).is_file():
            self._why = (folder / _REASON).read_text("utf-8").strip()

    def is_here(self, path: str) -> bool:
        """Check whether an address is one of the page: its own, a file, or what would be one."""
        return is_of_page(path) or path.startswith(ASSETS) or path in self._files

    def answer(self, path: str, sent: Mapping[bytes, bytes]) -> Response:
        """Answer a GET with the headers `sent`; raise NotFound."""
        file = self._files.get(path)
        if file is None:
            if path.startswith(ASSETS):
                raise NotFound(NO_ADDRESS, code="route_not_found")
            if b"text/html" not in sent.get(b"accept", b""):
                raise NotFound(_FOR_BROWSERS, code="route_not_found")
            file = self._files.get(f"/{_INDEX}")
        if file is None:
            return Response(_NOT_BUILT.format(reason=html.escape(self._why)), 404, _ASK_FIRST, "text/html")
        return file.response(sent.get(b"accept-encoding"), sent.get(b"if-none-match", b""))

    def _read(self, folder: Path) -> None:
        twins = tuple(suffix for _, suffix in _TWINS)
        for file in sorted(folder.rglob("*")):
            place = file.relative_to(folder)
            is_hidden = any(part.startswith(".") for part in place.parts)
            if file.is_file() and not is_hidden and file.name not in {_HASHES, _REASON} and file.suffix not in twins:
                path = f"/{place.as_posix()}"
                cache_control = _FOR_EVER if path.startswith(ASSETS) else _ASK_FIRST
                media_type = _MEDIA_TYPES.get(file.suffix, "application/octet-stream")
                self._files[path] = _File(media_type, {**self._headers, **cache_control}, _contents(file))


def is_of_page(path: str) -> bool:
    """Check whether an address is one that a person sees in the browser."""
    return path in _ADDRESSES or path.startswith(_OF_PROJECTS)


def _contents(file: Path) -> dict[bytes | None, tuple[bytes, str]]:
    twins = {coding: file.with_name(file.name + suffix) for coding, suffix in _TWINS}
    found: dict[bytes | None, Path] = {None: file}
    found |= {coding: twin for coding, twin in twins.items() if twin.is_file()}
    return {coding: (one.read_bytes(), etag(one.read_bytes())) for coding, one in found.items()}


def _policy(hashes: Path) -> str:
    try:
        listed = json.loads(hashes.read_text("utf-8"))
    except (OSError, ValueError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(one, str) and _HASH.fullmatch(one) for one in listed):
        raise StartFailure(f"{hashes} is no list of hashes of styles; build the page anew.")
    return _POLICY.format(styles=" ".join(["'self'", *(f"'{one}'" for one in listed)]))

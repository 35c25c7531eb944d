"""Calls of the API of a host of code: what goes wrong there is told in a sentence with what to do."""

import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

import httpx

from traceline_cli import __version__
from traceline_cli.deadline import Deadline
from traceline_cli.failures import Exit, Failure
from traceline_cli.pull_request.texts import clean, shorten

MARK = "<!-- traceline pr {} -->"
"""Begins the comment that we keep, with the key of the project; nobody sees it."""
CONTEXT = "traceline/gate"
_TRIES = 4
_AGAIN = frozenset({429, 502, 503, 504})
_LONGEST_PAUSE = 20.0
_LARGEST = 32 * 1024 * 1024
_MOST_SAID = 300
PER_PAGE = 100
_MOST_PAGES = 100


class CodeHost(Protocol):
    """Where the code is kept, and its changes are looked at."""

    def keep_comment(self, number: int, project: str, body: str) -> str:
        """Write our comment of a change, the same one each time; return what was done."""

    def set_status(self, commit: str, *, passed: bool, description: str, address: str | None) -> str:
        """Tell of a commit whether the gate passes; return what was done."""

    def find_change(self, source: str, commit: str) -> int | None:
        """Return the number of the open change from `owner:branch` whose newest commit this is."""


class Comment(Protocol):
    """What is read of a comment."""

    id: int
    is_ours: bool
    body: str


class HostApi:
    """The API of one host as one caller."""

    def __init__(
        self,
        name: str,
        base: str,
        headers: Mapping[str, str],
        *,
        deadline: Deadline,
        say: Callable[[str], None],
        explain: Callable[[int, str], str],
    ) -> None:
        """`name` is what people call the host; `explain` says what to do about a status at a path."""
        if not base.startswith(("http://", "https://")):
            raise Failure(Exit.WRONG_USE, f"The address of {name}'s API begins with https://, not {base!r}.")
        if not all(value.isascii() and value.isprintable() for value in headers.values()):
            raise Failure(Exit.WRONG_USE, f"The token for {name} has letters that no token has; copy it again.")
        self.name = name
        self._base = base.rstrip("/")
        self._deadline = deadline
        self._say = say
        self._explain = explain
        self._http = httpx.Client(
            headers={"User-Agent": f"traceline-cli/{__version__}", "Accept": "application/json", **headers},
            follow_redirects=False,
        )

    def call(self, method: str, path: str, *, allow: tuple[int, ...] = (), **parts: Any) -> httpx.Response:
        """Return the answer of a call; raise Failure for what is refused, except with a status of `allow`.

        What may have been done although no answer came is done once more only where that changes nothing.
        """
        for tried in range(1, _TRIES + 1):
            reason, pause = "", min(2.0 ** (tried - 1), _LONGEST_PAUSE)
            try:
                response = self._send(method, path, parts)
            except httpx.InvalidURL as error:
                raise Failure(Exit.WRONG_USE, f"{self._base} is no address: {error}.") from None
            except httpx.TransportError as error:
                self._deadline.check(self._base)
                reason = str(error).rstrip(".") or type(error).__name__
                is_done_twice = method != "POST" or isinstance(error, httpx.ConnectError)
            else:
                if response.status_code not in _AGAIN or response.status_code in allow:
                    return self._accepted(response, path, allow)
                is_done_twice = method != "POST" or response.status_code == 429
                asked = response.headers.get("retry-after", "")
                pause = min(float(asked), _LONGEST_PAUSE) if asked.isdecimal() else pause
                reason = f"it answers {response.status_code}"
            if tried == _TRIES or not is_done_twice:
                break
            self._say(f"{self.name}: {reason}; again in {pause:.0f} s ({tried} of {_TRIES})")
            time.sleep(min(pause * random.uniform(0.75, 1.0), self._deadline.left))  # noqa: S311 - no secret
        limits = " It limits how often it is called; try it again later." if "429" in reason else ""
        raise Failure(Exit.UNREACHABLE, f"{self.name} cannot be reached at {self._base}: {reason}.{limits}")

    def read_pages(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Return all rows of a list; a host that knows no pages gives them at once."""
        rows: list[dict[str, Any]] = []
        seen: set[Any] = set()
        for page in range(1, _MOST_PAGES + 1):
            content = self.content(self.call("GET", path, params={**query, "per_page": PER_PAGE, "page": page}), list)
            fresh = [row for row in content if isinstance(row, dict) and row.get("id") not in seen]
            rows += fresh
            seen |= {row.get("id") for row in fresh}
            if len(content) < PER_PAGE or not fresh:
                break
        return rows

    def content(self, response: httpx.Response, kind: type[Any]) -> Any:
        """Return the JSON of an answer; raise Failure for what is none of the host's API, such as a page."""
        with suppress(ValueError, RecursionError):
            content = response.json()
            if isinstance(content, kind):
                return content
        raise self._stranger(response)

    def _send(self, method: str, path: str, parts: dict[str, Any]) -> httpx.Response:
        left = self._deadline.check(self._base)
        timeout = httpx.Timeout(left, connect=min(10.0, left))
        request = self._http.build_request(method, self._base + path, timeout=timeout, **parts)
        response = self._http.send(request, stream=True)
        try:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                self._deadline.check(self._base)
                if len(body) > _LARGEST:
                    raise self._stranger(response)
        finally:
            response.close()
        headers = [(key, value) for key, value in response.headers.multi_items() if key != "content-encoding"]
        return httpx.Response(response.status_code, headers=headers, content=bytes(body), request=request)

    def _accepted(self, response: httpx.Response, path: str, allow: tuple[int, ...]) -> httpx.Response:
        status = response.status_code
        if status in allow or response.is_success:
            return response
        if response.has_redirect_location:
            # Not followed: the token is for the address that was said.
            to = shorten(clean(response.headers["location"]), _MOST_SAID)
            raise Failure(Exit.UNREACHABLE, f"{response.request.url} redirects to {to}; set the address of the API.")
        said = self._reason(response)
        if status == 403 and (
            response.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in response.headers
        ):
            raise Failure(Exit.UNREACHABLE, f"{self.name} limits how often it is called; try it again later. {said}")
        lets_us_in = status not in {401, 403} and status < 500
        code = Exit.REFUSED if lets_us_in else Exit.UNREACHABLE
        raise Failure(code, " ".join(filter(None, (self._explain(status, path), said))))

    def _reason(self, response: httpx.Response) -> str:
        """Return what the host says of a refusal, in one line without letters that move a terminal."""
        with suppress(ValueError, RecursionError):
            content = response.json()
            if isinstance(content, dict):
                said = content.get("message") or content.get("error") or ""
                text = " ".join(clean(said if isinstance(said, str) else str(said)).split())
                return f"{self.name} says: {shorten(text, _MOST_SAID)}" if text else ""
        return f"The answer is no JSON: is {self._base} the address of {self.name}'s API?"

    def _stranger(self, response: httpx.Response) -> Failure:
        where = response.request.url
        said = f"{where} does not answer as {self.name}'s API does; is the address right?"
        return Failure(Exit.UNREACHABLE, said)


def keep_one(
    api: HostApi,
    comments: str,
    is_ours: Callable[[dict[str, Any]], bool],
    mark: str,
    body: str,
    *,
    each: str | None = None,
    edit_by: str = "PATCH",
    **order: str,
) -> str:
    """Edit the comment that begins with our mark and is by us, or write it; never leave a second one.

    The mark alone says nothing: anybody can write it.

    Args: `comments` is where they are listed, in an `order`, and written; `each`, where one of them is, else below it.
    """
    whole = {"body": f"{mark}\n{body}"}

    def ours() -> list[int]:
        listed = api.read_pages(comments, **order)
        return sorted(one["id"] for one in listed if str(one.get("body") or "").startswith(mark) and is_ours(one))

    def edit(one: int) -> None:
        api.call(edit_by, f"{each or comments}/{one}", json=whole)

    found = ours()
    if found:
        edit(found[0])
        done = "edited"
    else:
        written = int(api.content(api.call("POST", comments, json=whole), dict)["id"])
        # Another job of the same change may have written one meanwhile.
        found = ours() or [written]
        if found[0] != written:
            edit(found[0])
        done = "written"
    for one in found[1:]:
        api.call("DELETE", f"{each or comments}/{one}", allow=(404,))
    return done

"""Calls of Traceline's API: tried again where that helps, and what is refused told in its own words."""

import random
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from traceline_cli import __version__
from traceline_cli.deadline import Deadline, silent
from traceline_cli.failures import Exit, Failure

_AGAIN = {429, 502, 503, 504}
_LONGEST_PAUSE = 30.0
PATIENCE = 55.0
"""Seconds in which a call is answered; what takes longer there than 20 is answered with 202."""
_TO_CONNECT = 10.0


class Api:
    """One user of one project; `project` None: the default one."""

    def __init__(
        self,
        url: str,
        token: str | None,
        project: str | None,
        *,
        tries: int,
        say: Callable[[str], None],
        patience: float = PATIENCE,
        deadline: Deadline | None = None,
    ):
        """`url` may be that of the service or of its API; `say` is told why a call is tried again.

        `patience`: seconds that a call waits for its answer; `deadline`: when all calls have to be done.
        """
        base = url.strip().rstrip("/").removesuffix("/api/v1")
        if not base.startswith(("http://", "https://")):
            raise Failure(Exit.WRONG_USE, f"An address begins with https:// or http://, not {url!r}.")
        self.url = base
        key = quote(project, safe="", errors="replace") if project else None
        self.page = f"{base}/p/{key or 'MAIN'}"
        """Where people look at the project."""
        self._below = f"/api/v1/projects/{key}" if key else "/api/v1"
        self._tries = tries
        self._say = say
        self._patience = patience
        self._deadline = deadline
        headers = {"User-Agent": f"traceline-cli/{__version__}"}
        if token is not None:
            if not (token.isascii() and token.isprintable()):
                raise Failure(Exit.WRONG_USE, "The token has letters that no token has; copy it again.")
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._http = httpx.Client(base_url=base, headers=headers, follow_redirects=False)
        except httpx.InvalidURL as error:
            raise Failure(Exit.WRONG_USE, f"{base} is no address: {error}.") from None
        except OSError as error:
            raise Failure(Exit.WRONG_USE, f"SSL_CERT_FILE or SSL_CERT_DIR cannot be read: {error.strerror}.") from None

    def close(self) -> None:
        """End the connections."""
        self._http.close()

    def get(self, path: str, **params: Any) -> httpx.Response:
        """GET below the project; what is refused is raised."""
        return self.call("GET", self._below + path, params=_given(params))

    def post(self, path: str, *, params: dict[str, Any] | None = None, **parts: Any) -> httpx.Response:
        """POST below the project; of a `file` the content is sent, as it is on the disk at each try."""
        return self.call("POST", self._below + path, params=_given(params or {}), **parts)

    def put(self, path: str, **parts: Any) -> httpx.Response:
        """PUT below the project."""
        return self.call("PUT", self._below + path, **parts)

    def call(self, method: str, path: str, **parts: Any) -> httpx.Response:
        """Call an address of the installation; raise Failure for what is refused, or does not come in all tries."""
        file: Path | None = parts.pop("file", None)
        body = parts.pop("content", None)
        judge = parts.pop("judge", _accepted)
        stream = parts.pop("stream", False)
        if method == "POST":
            # For the tries of this call: what came through although the answer did not is not done again.
            parts["headers"] = {"Idempotency-Key": secrets.token_hex(16), **parts.get("headers", {})}
        for tried in range(1, self._tries + 1):
            try:
                with nullcontext(body) if file is None else file.open("rb") as content:
                    request = self._http.build_request(method, path, content=content, timeout=self._timeout(), **parts)
                    response = self._http.send(request, stream=stream)
                if stream and response.status_code != 200:
                    response.read()
            except httpx.InvalidURL as error:
                raise Failure(Exit.WRONG_USE, f"{self.url} is no address: {error}.") from None
            except httpx.ReadTimeout:
                # Who has taken a connection and says nothing is not away: asked again, it would take as long.
                raise silent(self.url, self._patience) from None
            except httpx.TransportError as error:
                reason, pause = _reason(error), _pause(tried)
            else:
                if response.status_code not in _AGAIN:
                    answer: httpx.Response = judge(response)
                    return answer
                reason = f"it answers {response.status_code}"
                pause = _pause(tried, response.headers.get("retry-after"))
            if tried < self._tries:
                self._say(f"{self.url}: {reason}; again in {pause:.0f} s ({tried} of {self._tries})")
                time.sleep(pause if self._deadline is None else min(pause, self._deadline.left))
        self._timeout()
        raise Failure(
            Exit.UNREACHABLE, f"{self.url} cannot be reached: {reason}. Send it again later: nothing doubles."
        )

    def _timeout(self) -> httpx.Timeout:
        """Return how long a call may wait; raise Failure when the time of the command is over."""
        left = self._patience if self._deadline is None else self._deadline.check(self.url)
        return httpx.Timeout(left, connect=min(_TO_CONNECT, left))

    def message(self, path: str, content: bytes, headers: dict[str, str]) -> dict[str, Any] | None:
        """Send a message of JSON-RPC and return the one that is answered, an error too; None where there is none."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        response = self.call("POST", path, content=content, headers=headers, judge=_message)
        return content_of(response, "jsonrpc") if response.content else None

    def stream(self, path: str, warn: Callable[[str], object], **params: Any) -> Iterator[bytes]:
        """Yield the document of a GET as it comes; raise Failure when it is refused, none, or ends before its end.

        `warn` is told what it does not hold.
        """
        response = self.call("GET", self._below + path, params=_given(params), stream=True)
        try:
            if "content-disposition" not in response.headers:
                raise _stranger(response.request.url)
            if "warning" in response.headers:
                warn(response.headers["warning"].partition('"')[2].removesuffix('"'))
            yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise Failure(Exit.UNREACHABLE, f"{self.url}: {_reason(error)}; what came is not complete.") from None
        finally:
            response.close()

    def follow(
        self, response: httpx.Response, *having: str, within: float, look: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        """Return what a job is when it has ended, whose first answer may be 202; raise Failure after `within` s.

        `having`: members that it has then.
        """
        end, pause = time.monotonic() + within, 0.2
        while response.status_code == 202:
            look(content_of(response, "status"))
            if time.monotonic() > end:
                raise Failure(Exit.TIMED_OUT, f"It is not done after {within:.0f} s; it goes on at {response.url}.")
            time.sleep(pause)
            pause = min(pause * 1.5, 2.0)
            # Its path alone: the token is for the address that was said, which a proxy may name otherwise.
            where = httpx.URL(response.headers.get("location") or response.url).raw_path.decode()
            answer = self.call("GET", where)
            job = content_of(answer, "status")
            if job["status"] not in {"queued", "running", "received", "reading", "applying"}:
                return content_of(answer, *having)
            look(job)
            response = httpx.Response(202, headers={"location": where}, json=job, request=answer.request)
        return content_of(response, *having)


def content_of(response: httpx.Response, *having: str) -> dict[str, Any]:
    """Return the JSON of an answer; raise Failure for what is no answer of Traceline, such as a page of a proxy.

    `having`: members that the answer has.
    """
    content = None
    with suppress(ValueError):
        content = response.json()
    return expected(content, *having, where=response.request.url)


def expected(content: Any, *having: str, where: object) -> dict[str, Any]:
    """Return what an address has answered; raise Failure if it is no object with these members."""
    if isinstance(content, dict) and all(name in content for name in having):
        return content
    raise _stranger(where)


def _stranger(where: object) -> Failure:
    return Failure(Exit.UNREACHABLE, f"{where} does not answer as Traceline does; is the address right?")


def _accepted(response: httpx.Response) -> httpx.Response:
    if response.is_redirect:
        # Not followed: the token is for the address that was said.
        to = response.headers["location"]
        raise Failure(Exit.UNREACHABLE, f"{response.request.url} redirects to {to}; set --url to where Traceline is.")
    if response.status_code < 400:
        return response
    said, problem = f"{response.url} answers {response.status_code} {response.reason_phrase}", None
    with suppress(ValueError, TypeError, KeyError):
        content = response.json()
        if isinstance(content["code"], str) and isinstance(content["detail"], str):
            said, problem = content["detail"], content
    lets_us_in = response.status_code not in {401, 403} and response.status_code < 500
    raise Failure(Exit.REFUSED if lets_us_in else Exit.UNREACHABLE, said, problem=problem)


def _message(response: httpx.Response) -> httpx.Response:
    """Return a response that is a message, whatever its status; raise Failure for other refusals."""
    with suppress(ValueError):
        if "jsonrpc" in response.json():
            return response
    return _accepted(response)


def _reason(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__


def _pause(tried: int, asked: str | None = None) -> float:
    if asked is not None and asked.isdecimal():
        return min(float(asked), _LONGEST_PAUSE)
    # Spread: the jobs of a pipeline come at the same time.
    return min(2.0 ** (tried - 1), _LONGEST_PAUSE) * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def _given(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that have a value, as a query says them."""
    return {name: _sendable(value) for name, value in params.items() if value is not None}


def _sendable(value: Any) -> Any:
    """Return a value as a query can say it; what the system calls a text may be bytes that are none."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.encode(errors="surrogateescape").decode(errors="replace") if isinstance(value, str) else value

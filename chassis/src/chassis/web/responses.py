"""Answers as JSON documents, with strong ETags and conditional requests (RFC 9110)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import orjson
from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from chassis.core.problems import PreconditionFailed
from chassis.core.turns import drain, take_turns

_FEW = 20
"""Rows that are written at once."""
_PART = 128 * 1024
"""Bytes of a long body that are sent at once."""


def encode(body: Any) -> bytes:
    """Return the JSON of a body; timestamps are RFC 3339 in UTC, ending in Z."""
    return orjson.dumps(body, option=orjson.OPT_UTC_Z)


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON answer."""
    return Response(encode(body), status, headers, "application/json")


class ListAnswer(Response):
    """A JSON answer with a member `items`: of many rows a few are written at a time, and others are let in between."""

    media_type = "application/json"

    def __init__(
        self,
        rows: Sequence[Any] | orjson.Fragment,
        more: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`rows` may be their JSON already; `more` are the members beside them."""
        super().__init__(None, headers=headers)
        self._rows = rows
        self._more = more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See Response."""
        pieces = await self._encode()
        left = sum(map(len, pieces))
        self.headers["content-length"] = str(left)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in take_turns(_cut(pieces)):
            left -= len(part)
            await send({"type": "http.response.body", "body": part, "more_body": left > 0})

    async def _encode(self) -> list[bytes]:
        """Return the body in pieces; the rows are let go of."""
        if isinstance(self._rows, orjson.Fragment) or len(self._rows) <= _FEW:
            return [encode({"items": self._rows, **self._more})]
        # Neither kept nor put together: to free all rows at once, or to copy what they come to, takes milliseconds.
        rows, self._rows = [*self._rows], ()
        pieces = [b'{"items":[']
        async for row in take_turns(drain(rows)):
            pieces += encode(row), b","
        pieces[-1] = b"]," + encode(self._more)[1:] if self._more else b"]}"
        return pieces


def _cut(pieces: list[bytes]) -> Iterator[bytes]:
    """Yield what the pieces are together, so much at once as is sent at once."""
    waiting = bytearray()
    for piece in drain(pieces):
        waiting += piece
        while len(waiting) >= _PART:
            yield bytes(waiting[:_PART])
            del waiting[:_PART]
    if waiting:
        yield bytes(waiting)


def wants_no_wait(request: Request) -> bool:
    """Check whether who asks does not want to wait for what goes on in the background (RFC 7240, respond-async)."""
    preferences = ",".join(request.headers.getlist("prefer")).split(",")
    return any(preference.partition(";")[0].strip().lower() == "respond-async" for preference in preferences)


def etag(content: bytes) -> str:
    """Return the strong ETag of an item's JSON: it changes exactly when the answer does."""
    return f'"{blake2b(content, digest_size=12).hexdigest()}"'


def tagged(body: Mapping[str, Any], more: Mapping[str, Any], fields: Collection[str] | None) -> Any:
    """Return an item as a row of a list: with its ETag, and with `more` members, which the ETag is not of.

    It is JSON already, unless `fields` are to be chosen from it.
    """
    content = encode(body)
    if fields is not None:
        return {**body, **more, "etag": etag(content)}
    return orjson.Fragment(content[:-1] + b"," + encode({**more, "etag": etag(content)})[1:])


def item(
    request: Request,
    body: Any,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    tag: str | None = None,
) -> Response:
    """Return one item with its ETag; 304 when a GET says that the caller has it already.

    `tag` is the ETag of an item that has a cheaper one than its JSON.
    """
    content = encode(body)
    tag = tag or etag(content)
    if request.method == "GET" and is_known(request, tag):
        return not_modified(tag)
    return Response(content, status, {"ETag": tag, **(headers or {})}, "application/json")


def is_known(request: Request, tag: str) -> bool:
    """Check whether whoever asks has the state of this ETag already."""
    return _matches(request.headers.get("if-none-match"), tag, weak=True)


def not_modified(tag: str) -> Response:
    """Return the answer to who has the state of this ETag already."""
    return Response(status_code=304, headers={"ETag": tag})


def created(request: Request, body: Any, location: str, tag: str | None = None) -> Response:
    """Return 201 with the new item, its ETag (see `item`) and its Location."""
    return item(request, body, 201, {"Location": location}, tag)


def check_precondition(request: Request, current: Any, tag: str | None = None) -> None:
    """Raise PreconditionFailed unless the headers of a change allow for `current`, the body of the item.

    `If-Match` must name its state, `If-None-Match` must not. `tag` as of `item`.
    """
    wanted, unwanted = request.headers.get("if-match"), request.headers.get("if-none-match")
    if wanted is None and unwanted is None:
        return
    tag = tag or etag(encode(current))
    check_match(wanted, tag)
    if _matches(unwanted, tag, weak=True):
        raise PreconditionFailed("This item is there already, which If-None-Match forbids; leave it out to change it.")


def check_match(wanted: str | None, tag: str) -> None:
    """Raise PreconditionFailed unless `wanted`, what If-Match says, names the state `tag` of an item."""
    if wanted is not None and not _matches(wanted, tag, weak=False):
        raise PreconditionFailed("Somebody changed this item since you read it; read it again and repeat the change.")


def _matches(header: str | None, tag: str, *, weak: bool) -> bool:
    if header is None:
        return False
    if header.strip() == "*":
        return True
    candidates = [candidate.strip() for candidate in header.split(",")]
    if weak:
        candidates = [candidate.removeprefix("W/") for candidate in candidates]
    return tag in candidates

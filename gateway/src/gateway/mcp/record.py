"""The record as one caller sees it: the routes of the public API, asked in process with the caller's own token."""

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from starlette.types import Scope
from typing_extensions import TypedDict

from chassis.core.problems import Invalid, NotFound, Problem, Unauthenticated
from chassis.core.wording import listed, no_uuid, shown
from gateway.routing.own_requests import Answered, OwnRequest, send_own
from gateway.routing.proxy import Proxy

Json = dict[str, Any]

_API = "/api/v1"
_JSON = b"application/json"
_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NOT_FOR_MODELS = frozenset({"type", "title", "instance"})
"""Members of problem documents that say nothing beside `code` and `detail`."""
REQUIREMENT, TEST_CASE = "requirement", "test_case"
_MORE = {REQUIREMENT: "coverage,relations", TEST_CASE: "coverage"}
"""What an item tells beside, with what stands below it."""
_BRIEF = "id,external_id,title"
PATHS = {REQUIREMENT: "/requirements", TEST_CASE: "/test-cases"}


class Named(TypedDict):
    """An item as other things name it."""

    id: str
    key: str | None
    title: str


class Refusal(Exception):
    """What the API refuses, as its document says it."""

    def __init__(self, document: Json) -> None:
        super().__init__(document.get("detail", ""))
        self.document = {name: value for name, value in document.items() if name not in _NOT_FOR_MODELS}


class Record:
    """The public API within one project; `project` None: that of the whole installation alone."""

    def __init__(self, proxy: Proxy, came: Scope, token: str, agent: bytes, project: str | None):
        """`came` is the request of the caller, `agent` the User-Agent: the program that sent it."""
        self._proxy = proxy
        self._came = came
        self._token = token
        self._agent = agent
        self.project = project
        self._below = "" if project is None else f"/projects/{quote(project, safe='')}"

    async def get(self, path: str, **query: Any) -> Json:
        """Return what a GET of the project answers; raise Refusal or Unauthenticated."""
        return await self._ask("GET", self._below + path, query)

    async def get_of_all(self, path: str, **query: Any) -> Json:
        """Return what a GET of the installation answers; raise Refusal or Unauthenticated."""
        return await self._ask("GET", path, query)

    async def post(self, path: str, body: Any = None) -> Json:
        """Return what a POST of the project answers; raise Refusal or Unauthenticated."""
        return await self._ask("POST", self._below + path, {}, b"" if body is None else orjson.dumps(body))

    async def _ask(self, method: str, path: str, query: Json, body: bytes = b"") -> Json:
        given = {name: _written(value) for name, value in query.items() if value is not None}
        asked = OwnRequest(
            method,
            _API + path,
            (_API + path).encode(),
            urlencode(given, safe=",:").encode(),
            self._token,
            self._agent,
            _JSON,
            body,
        )
        try:
            answered = await send_own(self._proxy, asked, self._came)
        except Unauthenticated:
            raise  # the token has ended meanwhile: the client has to know that, not the model
        except Problem as problem:
            raise Refusal(document_of(problem)) from None
        return _content(answered)


def document_of(problem: Problem) -> Json:
    """Return what a model is told of a problem."""
    told: Json = {"code": problem.code, "detail": problem.detail, "status": problem.status, **problem.members}
    if problem.errors:
        told["errors"] = [{"pointer": one.pointer, "message": one.message, "code": one.code} for one in problem.errors]
    return told


def named(item: Json) -> Named:
    """Return an item as other things name it."""
    return {"id": item["id"], "key": item["external_id"], "title": item["title"]}


def in_path(name: str) -> str:
    """Return an id as a step of a path; raise Invalid for what is none."""
    if not _ID.fullmatch(name):
        raise Invalid(no_uuid(name))
    return name


def quoted(values: Iterable[str]) -> str:
    """Return values as alternatives of a filter."""
    return ",".join('"' + value.replace('"', '""') + '"' for value in values)


async def find_items(record: Record, names: Sequence[str], kinds: Sequence[str], *, whole: bool) -> dict[str, Json]:
    """Return what goes by these ids or external ids, by what was asked for, and whole or by its name.

    Each row has its `kind`. Raises Invalid where a key is of both kinds.
    """
    ids = [name for name in names if _ID.fullmatch(name)]
    keys = [name for name in names if not _ID.fullmatch(name)]
    found: dict[str, Json] = {}
    for kind in kinds:
        ids = [name for name in ids if name not in found]  # no two items have one
        for member, wanted, filters in (
            ("id", ids, {"ids": ",".join(ids)}),
            ("external_id", keys, {"external_id": quoted(keys)}),
        ):
            if not wanted:
                continue
            more = {"expand": _MORE[kind]} if whole else {"fields": _BRIEF}
            rows = await record.get(PATHS[kind], **filters, **more, limit=len(wanted))
            by_name = {str(row[member]).lower(): row for row in rows["items"]}
            here = {name: {"kind": kind, **by_name[name.lower()]} for name in wanted if name.lower() in by_name}
            both = here.keys() & found.keys()
            if both:
                raise Invalid(
                    f"A requirement and a test case go by {listed([shown(name) for name in sorted(both)], 'and')}: say"
                    " the type, or give ids.",
                    code="key_of_both",
                )
            found |= here
    return found


async def find_item(record: Record, name: str, kinds: Sequence[str] = (REQUIREMENT,)) -> Json:
    """Return the name of the item that goes by an id or external id; raise the NotFound that says where to look."""
    found = await find_items(record, [name], kinds, whole=False)
    if name not in found:
        raise no_such_item([name], kinds)
    return found[name]


def no_such_item(names: Sequence[str], kinds: Sequence[str]) -> NotFound:
    """Return the problem of items that are not there; what is in another project is not there either."""
    wanted = listed([kind.replace("_", " ") for kind in kinds], "or")
    return NotFound(
        f"There is no {wanted} {listed([shown(name) for name in names], 'or')} in this project; ids and external ids"
        " such as REQ-3 work, and find looks for words.",
        code=f"{kinds[0]}_not_found",
    )


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _content(answered: Answered) -> Json:
    document = answered.document()
    if answered.is_success:
        return document
    if answered.status == Unauthenticated.status:
        raise Unauthenticated(document.get("detail", ""), code=document.get("code"))
    raise Refusal(document)

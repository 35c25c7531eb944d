"""What the audit log has to have of requests, and no service tells: refusals, documents given, reads of the log itself.

It is folded in memory and told in batches, so that no request waits for it and nobody can fill the log. A gateway that
stops tells the rest; one that is killed loses the counts of a window at most.
"""

import logging
import re
import time
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import unquote

import orjson
from starlette.types import Message, Scope, Send

from chassis.core.identity import Identity
from chassis.core.problems import Problem, Unavailable
from chassis.core.request_context import gateway_request_id, request_id
from chassis.web.peers import Peer
from contracts.api_tokens import PREFIX
from contracts.projects import no_such_project
from gateway.auth.bearer import RefusedToken
from gateway.routing.folding import Folding, Kind, Notice, Request
from gateway.routing.versions import Address

_log = logging.getLogger(__name__)

LOOKED_AT = frozenset({403, 404, 429})
"""The statuses of services' answers that may be refusals."""

TELL_EVERY = 2
"""Seconds."""

_AT_ONCE = 500
_LONGEST = 300
_STEP = re.compile(r"[\w.~-]{1,36}")
"""A step of a path that is a word, a number or an id, and no secret."""
_EMAIL = re.compile(r"(?<![^\s=&,;?])[^\s=&,;?]+@[^\s=&,;]+")
"""Looked for from the beginning of a word alone: from each of its letters, a word of 30,000 would take seconds."""
_USED_FOR, _MOST_USED = 3600, 50_000
"""Seconds for which from where an API token is used is told once; how many such pairs are kept."""
_NO_PROJECT = no_such_project().code


class Asked(NamedTuple):
    """A request that came to an address: whose it is, as far as that is known, and what it was sent with."""

    scope: Scope
    address: Address
    identity: Identity | None
    agent: bytes

    def written(self, *, with_query: bool = False) -> str:
        """Return its method and address as they came; a step that may be a secret is left out."""
        steps = (self.address.taken_off + self.address.path).split("/")
        shown = "/".join(step if _STEP.fullmatch(step) else "{}" for step in steps)
        path = f"{self.scope['method']} {self.address.version.prefix}{shown}"
        query = self.scope["query_string"].decode("latin-1") if with_query else ""
        # It may be told after a person was erased: it names nobody.
        return _short(f"{path}?{_EMAIL.sub('{}', unquote(query, errors='replace'))}" if query else path)


class Notices:
    """Tells auth-service, from whose feed the audit log is written; used as `async with`, what is left at the end."""

    def __init__(self, auth: Peer) -> None:
        self._auth = auth
        self._folding = Folding()
        self._uses: list[Notice] = []
        self._used_from: set[tuple[str, str]] = set()
        self._used_since = time.time()
        self._taken: list[tuple[str, Notice]] = []
        """What is told next. It stays as it is until auth-service has confirmed it, so that it counts once."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._taken += self._take(time.time(), whole=True)
        await self.tell()
        for topic, notice in self._taken:
            _log.error("The audit log was not told of %s: %s", topic, orjson.dumps(notice).decode())

    async def tell(self) -> None:
        """Send what is due; what cannot be sent now is sent before anything else the next time."""
        if not self._taken:
            self._taken = self._take(time.time())
        with suppress(Unavailable):
            while self._taken:
                body: dict[str, list[Notice]] = {}
                for topic, notice in self._taken[:_AT_ONCE]:
                    body.setdefault(topic, []).append(notice)
                answer = await self._auth.put("/internal/access-notices", body)
                if answer.status_code != 204:  # an older version, which does not know of them
                    _log.warning("auth-service takes no notices of requests: it answers %d", answer.status_code)
                    return
                del self._taken[:_AT_ONCE]

    def refused(self, problem: Problem, asked: Asked) -> None:
        """Notice what the gateway itself refuses a request with; most problems are no refusals."""
        if isinstance(problem, RefusedToken):
            of = asked._replace(identity=problem.identity)
            self._note(of, "refusals", status=problem.status, reason=problem.reason)
        elif problem.status in (403, 429) or problem.code == _NO_PROJECT:
            self._note(asked, "refusals", status=problem.status, reason=problem.code)

    def answered(self, message: Message, asked: Asked, send: Send) -> Send:
        """Notice a service's answer by its beginning; return the `send` for the rest of it."""
        status, address = message["status"], asked.address
        if status == 200 and address.is_watched:
            if any(name == b"content-disposition" for name, _ in message["headers"]):
                self._note(asked, "readings", what="export", export=asked.written(with_query=True))
            elif address.is_audit_log:
                self._note(asked, "readings", what="audit_log")
        elif status == 429 or (status in LOOKED_AT and not address.is_public(asked.scope["method"])):
            return self._reading_code(status, asked, send)
        return send

    def used(self, identity: Identity, address: str, agent: bytes) -> None:
        """Notice from where somebody uses an API token."""
        pair = (identity.token_id, address)
        if pair not in self._used_from:
            self._used_from.add(pair)
            use = {
                "api_token_id": _api_token_of(identity),
                "address": _short(address),
                "agent": _short(agent.decode("latin-1")),
            }
            self._uses.append({**use, "at": datetime.now(UTC)})

    def _take(self, now: float, *, whole: bool = False) -> list[tuple[str, Notice]]:
        uses, self._uses = self._uses, []
        if now > self._used_since + _USED_FOR or len(self._used_from) > _MOST_USED:
            self._used_from.clear()
            self._used_since = now
        return [*(("uses", use) for use in uses), *self._folding.take(now, whole=whole)]

    def _reading_code(self, status: int, asked: Asked, send: Send) -> Send:
        """Return a `send` that notices why a service refuses a request, which its problem document says."""
        is_read = False

        async def send_on(message: Message) -> None:
            nonlocal is_read
            if not is_read and message["type"] == "http.response.body":
                is_read = True
                code = _code(message.get("body", b""))
                if status != 404 or code == _NO_PROJECT:
                    self._note(asked, "refusals", status=status, reason=code)
            await send(message)

        return send_on

    def _note(
        self,
        asked: Asked,
        topic: str,
        *,
        status: int | None = None,
        reason: str | None = None,
        what: str | None = None,
        export: str | None = None,
    ) -> None:
        identity, client = asked.identity, asked.scope.get("client")
        kind = Kind(topic, status, reason, what, export, None, None, None, None)
        if identity is not None and identity.id:
            kind = kind._replace(
                user_id=identity.id,
                # Who is not let in decides nothing of where that is told.
                project=identity.project or None if status in (None, 403) else None,
                session_id=identity.session_id or None,
                api_token_id=_api_token_of(identity),
            )
        self._folding.add(
            kind,
            Request(
                time.time(),
                export or asked.written(with_query=what is not None),
                _short(client[0]) if client else "unknown",
                _short(asked.agent.decode("latin-1")),
                request_id.get(),
                gateway_request_id.get(),
            ),
        )


def _api_token_of(identity: Identity) -> int | None:
    token_id = identity.token_id
    return int(token_id.removeprefix(PREFIX)) if token_id.startswith(PREFIX) else None


def _code(body: bytes) -> str:
    with suppress(orjson.JSONDecodeError, KeyError, TypeError):
        return str(orjson.loads(body)["code"])
    return "refused"


def _short(text: str) -> str:
    return text.replace("\0", "")[:_LONGEST]

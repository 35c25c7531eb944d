"""The messages of the Model Context Protocol: JSON-RPC, of two eras, on one address and without any state.

Since 2026-07-28 each request says its version, its client and what that can do in `_meta`, and headers repeat what
those on the way look at. Clients of before begin with `initialize`, of which nothing is kept here either.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

STATELESS = ("2026-07-28",)
WITH_HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26")
"""The newest first: it is what a client gets that asks for one which is not here."""
VERSIONS = (*STATELESS, *WITH_HANDSHAKE)

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = b"mcp-protocol-version", b"mcp-method", b"mcp-name"
_META = "io.modelcontextprotocol/"
_VERSION, _CLIENT, _ABILITIES = (f"{_META}{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities"))
SERVER = f"{_META}serverInfo"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header Mcp-Name repeats."""
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_NO_TOKEN = re.compile(r"[^A-Za-z0-9.+_~!#$%&'*^`|-]+")
_LONGEST_CLIENT = 100

PARSE_ERROR, INVALID_REQUEST, NO_SUCH_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
NO_SUCH_RESOURCE = -32002
"""Of the era before: since then it is a wrong parameter."""
_STATUSES = {NO_SUCH_METHOD: 404}
"""The HTTP statuses of errors since 2026-07-28 that are not 400."""

Json = dict[str, Any]
Id = str | int


class Fault(Exception):
    """An error of the protocol; what a tool refuses is none, but a result that a model can read and act on."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.id: Id | None = None
        self.status = _STATUSES.get(code, 400)

    def answer(self) -> Json:
        """Return the message that tells of it."""
        error: Json = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": self.id, "error": error}


@dataclass(frozen=True, slots=True)
class Call:
    """A request: its `version` of the protocol, and `client` its program, such as `claude-code/2.1`, None: not said."""

    id: Id
    method: str
    params: Mapping[str, Any]
    version: str
    client: str | None

    @property
    def is_stateless(self) -> bool:
        """Whether it is of the era in which each request says everything."""
        return self.version in STATELESS

    def answer(self, result: Json) -> Json:
        """Return the message with its result."""
        return {"jsonrpc": "2.0", "id": self.id, "result": result}


def read(body: bytes, sent: Mapping[bytes, bytes]) -> Call | None:
    """Return the request that a body holds, which came with the headers `sent`; None for a notification.

    Raises Fault.
    """
    message = _message(body)
    if "id" not in message:
        _check_version(_text(sent, VERSION_HEADER))
        return None
    try:
        return _call(message, sent)
    except Fault as fault:
        id_ = message["id"]
        fault.id = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
        raise


def _message(body: bytes) -> Json:
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Fault(PARSE_ERROR, "The body is no JSON.") from None
    if not isinstance(message, dict):
        raise Fault(INVALID_REQUEST, "The body is to be one JSON-RPC message; batches are not taken.")
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise Fault(INVALID_REQUEST, 'This is no request of JSON-RPC 2.0: it needs "jsonrpc": "2.0" and a method.')
    return message


def _call(message: Json, sent: Mapping[bytes, bytes]) -> Call:
    id_, method, params = message["id"], message["method"], message.get("params", {})
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise Fault(INVALID_REQUEST, "The id of a request is a text or a whole number.")
    if not isinstance(params, dict):
        raise Fault(INVALID_PARAMS, "The params of a request are an object.")
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        raise Fault(INVALID_PARAMS, "The _meta of a request is an object.")
    header = _text(sent, VERSION_HEADER)
    if header in STATELESS or _VERSION in meta:
        return _stateless_call(id_, method, params, meta, sent)
    _check_version(header)
    return Call(id_, method, params, header or WITH_HANDSHAKE[-1], None)


def _stateless_call(id_: Id, method: str, params: Json, meta: Json, sent: Mapping[bytes, bytes]) -> Call:
    lacking = [name for name in (_VERSION, _ABILITIES) if name not in meta]
    if lacking:
        raise Fault(INVALID_PARAMS, f"params._meta lacks {' and '.join(lacking)}.")
    version = meta[_VERSION]
    if _text(sent, VERSION_HEADER) != version:
        raise _mismatch("MCP-Protocol-Version", _VERSION)
    if _text(sent, METHOD_HEADER) != method:
        raise _mismatch("Mcp-Method", "method")
    named = _NAMED.get(method)
    if named is not None and named in params and _decoded(_text(sent, NAME_HEADER)) != params[named]:
        raise _mismatch("Mcp-Name", f"params.{named}")
    _check_version(version)
    return Call(id_, method, params, version, _client(meta.get(_CLIENT)))


def _mismatch(header: str, member: str) -> Fault:
    return Fault(HEADER_MISMATCH, f"The header {header} does not say what {member} of the body says.")


def _check_version(version: str | None) -> None:
    if version is not None and version not in VERSIONS:
        raise Fault(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": list(VERSIONS), "requested": version},
        )


def _client(info: object) -> str | None:
    """Return name and version of a client, as a product of a User-Agent (RFC 9110)."""
    if not isinstance(info, dict):
        return None
    words = [_NO_TOKEN.sub("-", str(info.get(name) or ""))[:_LONGEST_CLIENT].strip("-") for name in ("name", "version")]
    return "/".join(word for word in words if word) if words[0] else None


def _text(sent: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = sent.get(name)
    return None if value is None else value.decode("latin-1").strip()


def _decoded(value: str | None) -> str | None:
    """Return what a header says, whose text may be in base64; None for what is not."""
    found = _ENCODED.fullmatch(value or "")
    if found is None:
        return value
    try:
        return base64.b64decode(found[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None

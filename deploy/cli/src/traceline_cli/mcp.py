"""The command `traceline mcp`: the tools of Traceline for agents whose clients start a program and call no address."""

import base64
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import click

from traceline_cli import __version__
from traceline_cli.api import Api
from traceline_cli.context import Context, pass_context
from traceline_cli.failures import Failure

_META = "io.modelcontextprotocol/"
_INTERNAL_ERROR = -32603
_NO_TOKEN = re.compile(r"[^A-Za-z0-9.+_~-]+")
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@click.command("mcp")
@pass_context
def mcp(context: Context) -> None:
    """Serve an agent over stdin and stdout (MCP): it reads the record and proposes, a person decides.

    For clients that start a program; others call the address /mcp/projects/KEY of Traceline themselves. With --project
    the tools are those of one project, else each call says which.
    """
    api = context.api()
    relay = Relay(api, context.project)
    for line in sys.stdin:
        if line.strip():
            for answer in relay.answers(line):
                sys.stdout.write(answer + "\n")
                sys.stdout.flush()


class Relay:
    """Sends messages on as they come, and gives back what is answered; what HTTP wants beside is told from them."""

    def __init__(self, api: Api, project: str | None) -> None:
        self._api = api
        self._path = f"/mcp/projects/{quote(project, safe='')}" if project else "/mcp"
        self._version: str | None = None
        """Of the client's handshake, where it had one."""
        self._client = f"traceline-cli/{__version__}"

    def answers(self, line: str) -> Iterator[str]:
        """Yield the answer to a message, as one line; nothing to a notification."""
        message: Any = None
        with suppress(ValueError):
            message = json.loads(line)
        asked = message if isinstance(message, dict) else {}
        try:
            answer = self._api.message(self._path, line.encode(errors="replace"), self._headers(asked))
        except Failure as failure:
            if "id" in asked:
                error = {"code": _INTERNAL_ERROR, "message": failure.message, "data": failure.problem}
                yield json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error})
            return
        if answer:
            self._learn(asked, answer)
            yield json.dumps(answer, ensure_ascii=False)

    def _headers(self, asked: dict[str, Any]) -> dict[str, str]:
        method = asked.get("method")
        params = _object(asked.get("params"))
        meta = _object(params.get("_meta"))
        if method == "initialize":
            self._client = _product(params.get("clientInfo")) or self._client
        headers = {"User-Agent": self._client}
        version = meta.get(f"{_META}protocolVersion")
        if version is None:
            return headers | ({"MCP-Protocol-Version": self._version} if self._version else {})
        headers |= {"MCP-Protocol-Version": str(version), "Mcp-Method": str(method)}
        name = params.get(_NAMED.get(str(method), ""))
        return headers | ({"Mcp-Name": _encode_for_header(name)} if isinstance(name, str) else {})

    def _learn(self, asked: dict[str, Any], answer: dict[str, Any]) -> None:
        if asked.get("method") == "initialize" and isinstance(answer.get("result"), dict):
            self._version = answer["result"].get("protocolVersion")


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _product(info: Any) -> str | None:
    """Return name and version of a client as a product of a User-Agent (RFC 9110)."""
    words = [_NO_TOKEN.sub("-", str(_object(info).get(name) or "")).strip("-") for name in ("name", "version")]
    return "/".join(word for word in words if word) if words[0] else None


def _encode_for_header(text: str) -> str:
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="

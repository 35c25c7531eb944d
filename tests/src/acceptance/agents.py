"""An agent that talks to /mcp as clients of the stateless era do."""

from typing import Any

import orjson

from acceptance.client import Traceline, ok

Json = dict[str, Any]

_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "scripted", "version": "1.0"},
}


class Agent:
    """Calls tools in one project with the token of `user`; an answer is what a model gets to read."""

    def __init__(self, user: Traceline, project: str) -> None:
        self._user = user
        self._path = f"/mcp/projects/{project}"

    def call(self, name: str, **arguments: Any) -> Json:
        """Return what a tool gives."""
        result = self._result(name, arguments)
        assert not result["isError"], result["content"]
        told: Json = result["structuredContent"]
        assert orjson.loads(result["content"][0]["text"]) == told
        return told

    def refused(self, name: str, **arguments: Any) -> Json:
        """Return the problem with which a tool refuses a call."""
        result = self._result(name, arguments)
        assert result["isError"], result
        problem: Json = orjson.loads(result["content"][0]["text"])
        return problem

    def _result(self, name: str, arguments: Json) -> Json:
        headers = {"MCP-Protocol-Version": _VERSION, "Mcp-Method": "tools/call", "Mcp-Name": name}
        params = {"_meta": _META, "name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self._user.request("POST", self._user.base_url + self._path, json=message, headers=headers)
        result: Json = ok(answer)["result"]
        return result

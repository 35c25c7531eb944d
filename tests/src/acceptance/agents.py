"""An agent that talks to /mcp as clients of the stateless era do."""

from functools import cached_property
from typing import Any

import orjson
from jsonschema import Draft202012Validator

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
        Draft202012Validator(self._schemas[name]).validate(told)
        assert orjson.loads(result["content"][0]["text"]) == told
        return told

    def refused(self, name: str, **arguments: Any) -> Json:
        """Return the problem with which a tool refuses a call."""
        result = self._result(name, arguments)
        assert result["isError"], result
        problem: Json = orjson.loads(result["content"][0]["text"])
        return problem

    @cached_property
    def _schemas(self) -> dict[str, Json]:
        """What each tool says that it gives."""
        listed = self._ask("tools/list")["tools"]
        return {tool["name"]: tool["outputSchema"] for tool in listed}

    def _result(self, name: str, arguments: Json) -> Json:
        return self._ask("tools/call", name=name, arguments=arguments)

    def _ask(self, method: str, **params: Any) -> Json:
        headers = {"MCP-Protocol-Version": _VERSION, "Mcp-Method": method}
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": _META, **params}}
        answer = self._user.request("POST", self._user.base_url + self._path, json=message, headers=headers)
        result: Json = ok(answer)["result"]
        return result

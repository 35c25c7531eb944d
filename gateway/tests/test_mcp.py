"""The door at /mcp: both eras of the protocol, who is let in, and what is refused in which form."""

from contextlib import suppress
from typing import Any
from uuid import uuid4

import httpx
import httpx2
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from stand_ins import Running, running_gateway

from gateway.mcp import protocol
from gateway.mcp.arguments import Arguments
from gateway.mcp.results import MOST, encode, fit
from gateway.mcp.tools.registry import TOOLS
from gateway.mcp.tools.tool import Tool

Json = dict[str, Any]

STATELESS = protocol.STATELESS[0]
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "Some client", "version": "1.2"},
}


async def post(running: Running, message: Any, path: str = "/mcp", **headers: str) -> httpx.Response:
    content = message if isinstance(message, bytes) else orjson.dumps(message)
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} | headers
    return await running.get(path, running.issuer.token(), method="POST", content=content, headers=sent)


async def ask(running: Running, method: str, path: str = "/mcp", **params: Any) -> Json:
    """Ask as clients of the stateless era do; return the result."""
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    answer = await post(running, message(method, _meta=META, **params), path, **headers)
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()["result"]
    return result


def message(method: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def test_clients_of_both_eras_find_the_same_tools(running: Running) -> None:
    discovered = await ask(running, "server/discover")
    assert STATELESS in discovered["supportedVersions"]
    listed = (await ask(running, "tools/list"))["tools"]
    for version in protocol.WITH_HANDSHAKE:
        begun = await post(running, message("initialize", protocolVersion=version, capabilities={}, clientInfo={}))
        assert begun.json()["result"]["protocolVersion"] == version
        assert "mcp-session-id" not in begun.headers
        done = await post(running, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (done.status_code, done.content) == (202, b"")
        answer = await post(running, message("tools/list"), **{"MCP-Protocol-Version": version})
        assert answer.json()["result"] == {"tools": listed}


@pytest.mark.parametrize(("mode", "version"), [("legacy", protocol.WITH_HANDSHAKE[0]), ("auto", STATELESS)])
async def test_the_official_client_understands_what_it_gets(running: Running, mode: str, version: str) -> None:
    headers = {"Authorization": f"Bearer {running.issuer.token()}"}
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=running.gateway), headers=headers)
    transport = streamable_http_client("http://localhost/mcp/projects/MAIN", http_client=http)
    async with http, Client(transport, mode=mode) as client:
        assert client.protocol_version == version
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(TOOLS)
        assert all(tool.input_schema and tool.output_schema and tool.annotations for tool in tools)
        refused = await client.call_tool("withdraw", {"proposal": "none"})
        assert refused.is_error
        assert [one.name for one in (await client.list_prompts()).prompts] == ["cover_gaps", "review_suspects"]
        assert "gaps" in (await client.get_prompt("cover_gaps", {})).messages[0].content.text
        templates = (await client.list_resource_templates()).resource_templates
        assert templates[0].uri_template == "traceline://MAIN/requirement/{key}"
        with pytest.raises(MCPError):
            await client.read_resource("traceline://OTHER/requirement/REQ-1")


async def test_a_client_of_an_unknown_version_is_told_which_there_are(running: Running) -> None:
    begun = await post(running, message("initialize", protocolVersion="1999-01-01"))
    assert begun.json()["result"]["protocolVersion"] == protocol.WITH_HANDSHAKE[0]
    refused = await post(running, message("tools/list"), **{"MCP-Protocol-Version": "1999-01-01"})
    assert refused.status_code == 400
    assert refused.json()["error"]["data"]["supported"] == list(protocol.VERSIONS)


async def test_each_tool_says_what_it_does_and_none_that_it_destroys(running: Running) -> None:
    bound = (await ask(running, "tools/list", "/mcp/projects/DEMO"))["tools"]
    unbound = (await ask(running, "tools/list"))["tools"]
    assert [tool["name"] for tool in bound] == [tool["name"] for tool in unbound] == list(TOOLS)
    for tool in (*bound, *unbound):
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert "$ref" not in orjson.dumps(tool).decode()
        assert tool["annotations"]["readOnlyHint"] is (tool["name"] not in {"propose", "withdraw"})
        assert not tool["annotations"]["destructiveHint"]
    assert all("project" not in tool["inputSchema"]["properties"] for tool in bound)
    assert all("project" in tool["inputSchema"]["properties"] for tool in unbound)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"MCP-Protocol-Version": "2025-11-25"}, protocol.HEADER_MISMATCH),
        ({"Mcp-Method": "tools/list"}, protocol.HEADER_MISMATCH),
        ({"Mcp-Name": "find"}, protocol.HEADER_MISMATCH),
        ({"Mcp-Name": "=?base64?b3ZlcnZpZXc=?="}, None),
        ({"Mcp-Name": "=?base64?!?="}, protocol.HEADER_MISMATCH),
    ],
)
async def test_headers_say_what_the_body_says(running: Running, changed: dict[str, str], code: int | None) -> None:
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": "overview"} | changed
    answer = await post(running, message("tools/call", _meta=META, name="overview"), **headers)
    assert answer.json().get("error", {}).get("code") == code
    assert answer.status_code == (200 if code is None else 400)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", protocol.PARSE_ERROR),
        ([message("ping")], protocol.INVALID_REQUEST),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, protocol.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, protocol.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, protocol.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, protocol.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}, protocol.INVALID_PARAMS),
        (message("ping", _meta=1), protocol.INVALID_PARAMS),
        (message("ping", _meta={"io.modelcontextprotocol/protocolVersion": STATELESS}), protocol.INVALID_PARAMS),
    ],
)
async def test_what_is_no_request_is_refused_as_the_protocol_says(running: Running, body: Any, code: int) -> None:
    answer = await post(running, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)


async def test_methods_that_are_not_here_are_no_secret(running: Running) -> None:
    before = await post(running, message("completion/complete"))
    assert (before.status_code, before.json()["error"]["code"]) == (200, protocol.NO_SUCH_METHOD)
    headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "initialize"}
    since = await post(running, message("initialize", _meta=META), **headers)
    assert (since.status_code, since.json()["error"]["code"]) == (404, protocol.NO_SUCH_METHOD)


async def test_a_model_can_mend_its_call(running: Running) -> None:
    async def refused(name: str, path: str = "/mcp/projects/MAIN", **arguments: Any) -> Json:
        result = await ask(running, "tools/call", path, name=name, arguments=arguments)
        assert result["isError"]
        assert "structuredContent" not in result
        problem: Json = orjson.loads(result["content"][0]["text"])
        return problem

    assert "did you mean 'overview'" in (await refused("over_view"))["detail"]
    assert "did you mean 'query'" in (await refused("find", qery="x"))["detail"]
    assert (await refused("find", query="a\0b"))["code"] == "nul_character"
    assert (await refused("overview", "/mcp", project="NONE"))["code"] == "project_not_found"
    assert (await refused("find", "/mcp", project=7, query="x"))["status"] == 422


async def test_only_a_token_in_its_header_opens_the_door(running: Running) -> None:
    token = running.issuer.token()
    body = {"json": message("ping")}
    for headers in ({}, {"Cookie": f"traceline-80={token}"}, {"Authorization": "Bearer tlp_no"}):
        refused = await running.get("/mcp/projects/DEMO", method="POST", headers=headers, **body)
        assert refused.status_code == 401
        where = refused.headers["www-authenticate"].removeprefix('Bearer resource_metadata="').removesuffix('"')
        metadata = (await running.client.get(where)).json()
        assert metadata["resource"] == "http://localhost/mcp/projects/DEMO"
    assert (await running.get("/mcp", token, method="POST", **body)).status_code == 200


async def test_pages_of_others_and_other_names_are_not_answered(running: Running) -> None:
    assert (await post(running, message("ping"), Origin="https://evil.example")).status_code == 403
    assert (await post(running, message("ping"), Origin="null")).status_code == 403
    assert (await post(running, message("ping"), Origin="http://localhost")).status_code == 200
    assert (await post(running, message("ping"), Host="evil.example")).status_code == 421
    async with running_gateway(cors_allowed_origins="https://inspector.example") as open_to:
        allowed = await post(open_to, message("ping"), Origin="https://inspector.example")
        assert allowed.headers["access-control-allow-origin"] == "https://inspector.example"


async def test_what_is_no_message_is_a_problem(running: Running) -> None:
    assert (await post(running, message("ping", long="x" * 2000))).status_code == 413
    assert (await post(running, message("ping"), **{"Content-Type": "text/plain"})).status_code == 415
    assert (await post(running, message("ping"), "/mcp/projects/nope")).status_code == 404
    refused = await running.get("/mcp", running.issuer.token())
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    async with running_gateway(mcp="off") as closed:
        assert (await post(closed, message("ping"))).status_code == 404


async def test_a_call_is_in_the_project_of_its_address(running: Running) -> None:
    refused = await post(
        running, message("tools/call", name="get", arguments={"items": ["REQ-1"]}), "/mcp/projects/OTHER"
    )
    assert "project_not_found" in refused.json()["result"]["content"][0]["text"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=5),
    max_leaves=10,
)
_HEADERS = st.dictionaries(
    st.sampled_from([protocol.VERSION_HEADER, protocol.METHOD_HEADER, protocol.NAME_HEADER]), st.binary(max_size=20)
)


@given(
    st.binary()
    | st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0")},
        optional={
            "id": _JSON,
            "method": st.sampled_from(["tools/call", "ping"]),
            "params": _JSON | st.fixed_dictionaries({"_meta": st.dictionaries(st.sampled_from(list(META)), _JSON)}),
        },
    ),
    _HEADERS,
)
def test_whatever_comes_is_a_message_or_a_fault(body: Any, sent: dict[bytes, bytes]) -> None:
    with suppress(protocol.Fault):
        protocol.read(body if isinstance(body, bytes) else orjson.dumps(body), sent)


@given(st.dictionaries(st.text(max_size=20), _JSON, max_size=20), st.integers(1, 500))
def test_each_result_is_short_enough(result: Json, times: int) -> None:
    assert len(encode(fit(result | {"rows": [result] * times}))) <= MOST


class PageArguments(Arguments):
    limit: int = 20


async def test_a_page_that_is_too_long_comes_with_fewer_rows_and_goes_on_behind_the_last(running: Running) -> None:
    async def run(record: Any, asked: PageArguments) -> Any:
        return {"items": [{f"id{n}": str(uuid4()) for n in range(20)}] * asked.limit, "next": str(asked.limit)}

    pages = Tool("pages", "", "", PageArguments, dict, run)
    told = await pages.call(None, PageArguments())  # type: ignore[arg-type]
    assert (len(told["items"]), told["next"]) == (5, "5")
    assert "shortened" not in told


def test_a_long_result_says_that_it_was_shortened() -> None:
    whole = {"items": [{"id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11", "title": "ä" * 500, "next": "x" * 90}] * 20}
    shown = fit(whole | {"next": "y" * 400})
    assert len(encode(shown)) <= MOST
    assert shown["shortened"]
    assert shown["next"] == "y" * 400
    assert len(shown["items"]) == 20
    assert {row["id"] for row in shown["items"]} == {whole["items"][0]["id"]}
    assert fit({"items": []}) == {"items": []}

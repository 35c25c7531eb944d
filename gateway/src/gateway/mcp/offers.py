"""What clients offer people beside tools: items as resources, and two ways to begin as prompts."""

import re
from typing import Any
from urllib.parse import unquote

from contracts.projects import KEY
from gateway.mcp.record import REQUIREMENT, TEST_CASE, Record
from gateway.mcp.results import encode, fit
from gateway.mcp.tools.get import GetArguments, read_items

Json = dict[str, Any]

_URI = re.compile(rf"traceline://({KEY.pattern})/({REQUIREMENT}|{TEST_CASE})/(.+)")
_KINDS = {REQUIREMENT: "Requirement", TEST_CASE: "Test case"}
_MODULE = {"name": "module", "description": "One module alone.", "required": False}
_PROJECT = {"name": "project", "description": "The key of the project.", "required": True}
_PROMPTS = {
    "cover_gaps": (
        "Propose test cases for requirements that have none",
        "Find requirements{where} without a test case with the tool gaps (kind uncovered), the most important"
        " first. For each, look at candidates, and read both texts with get. Propose a link only where the steps of"
        " the test case check what the requirement asks for: say which step, and show the file and lines of the"
        " test where there are any. Where nothing fits, say so and propose nothing. Read my_proposals first: what"
        " was rejected tells why.",
        (_MODULE,),
    ),
    "review_suspects": (
        "Say of suspect links whether they still hold",
        "List suspect links{where} with the tool gaps (kind suspect), and read with why_suspect what changed. For each"
        " say whether the test case still checks what the requirement says now, and which step is out of date."
        " Propose confirm_link where it holds, a change of the test case where its text has to follow, unlink where it"
        " checks something else. A person decides.",
        (_MODULE,),
    ),
}


def list_templates(project: str | None) -> list[Json]:
    """Return the addresses of items; at an address that is bound to a project, those of it."""
    return [
        {
            "uriTemplate": f"traceline://{project or '{project}'}/{kind}/{{key}}",
            "name": kind,
            "title": title,
            "description": f"A {title.lower()} by its key: fields, links, verdict, and what waits for review.",
            "mimeType": "application/json",
        }
        for kind, title in _KINDS.items()
    ]


def project_of(uri: str) -> str | None:
    """Return the project of an item's address; None for what is no such address."""
    found = _URI.fullmatch(uri)
    return None if found is None else found[1]


async def read_resource(record: Record, uri: str) -> Json:
    """Return the item at an address; raise Refusal or NotFound."""
    found = _URI.fullmatch(uri)
    assert found is not None, "project_of knows it"
    asked = GetArguments.model_validate({"items": [unquote(found[3])], "type": found[2]})
    (item,) = (await read_items(record, asked))["items"]
    return {"uri": uri, "mimeType": "application/json", "text": encode(fit(item))}


def list_prompts(*, is_bound: bool) -> list[Json]:
    """Return the prompts; at an address that is bound to a project nobody says which."""
    return [
        {"name": name, "title": title, "description": f"{title}.", "arguments": _arguments(own, is_bound=is_bound)}
        for name, (title, _, own) in _PROMPTS.items()
    ]


def prompt(name: str, given: Json, *, is_bound: bool) -> Json | None:
    """Return what a prompt says; None where there is none of this name, or with these arguments."""
    if name not in _PROMPTS:
        return None
    title, text, own = _PROMPTS[name]
    known = _arguments(own, is_bound=is_bound)
    names = {one["name"] for one in known}
    if given.keys() - names or any(one["required"] and not given.get(one["name"]) for one in known):
        return None
    where = "".join(f" of the {name} '{given[name]}'" for name in ("module", "project") if given.get(name))
    return {
        "description": f"{title}.",
        "messages": [{"role": "user", "content": {"type": "text", "text": text.format(where=where)}}],
    }


def _arguments(own: tuple[Json, ...], *, is_bound: bool) -> list[Json]:
    return [*own] if is_bound else [_PROJECT, *own]

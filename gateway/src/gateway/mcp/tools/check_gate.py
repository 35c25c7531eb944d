"""The tool `check_gate`: whether a change may go out, and what is in its way."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from gateway.mcp.arguments import Arguments
from gateway.mcp.record import Json, Record
from gateway.mcp.tools.tool import Tool

_OF_RULE = 5


class CheckGateArguments(Arguments):
    branch: Annotated[str | None, Field(description="By default the main one.")] = None
    commit: Annotated[str | None, Field(description="Results of this commit alone.")] = None
    environment: str | None = None
    policy: Annotated[str | None, Field(description="A saved policy; by default the gate of the project.")] = None


class Item(TypedDict):
    id: str | None
    key: str | None
    reason: str | None


class Rule(TypedDict):
    rule: str
    passed: bool
    reason: str
    items: list[Item]
    total: int


class GateAnswer(TypedDict):
    passed: bool
    branch: str
    commit: str | None
    environment: str | None
    rules: list[Rule]
    warnings: list[str]
    next: NotRequired[str | None]
    shortened: NotRequired[bool]


async def _run(record: Record, asked: CheckGateArguments) -> GateAnswer:
    gate = await record.get("/reports/gate", **asked.model_dump())
    return {
        "passed": gate["passed"],
        "branch": gate["branch"],
        "commit": gate["commit"],
        "environment": gate["environment"],
        "rules": [_rule(one) for one in gate["rules"]],
        "warnings": [one if isinstance(one, str) else str(one.get("message", one)) for one in gate["warnings"]],
    }


def _rule(rule: Json) -> Rule:
    return {
        "rule": rule["rule"],
        "passed": rule["passed"],
        "reason": rule["reason"],
        "items": [
            {"id": _text(one.get("id")), "key": one.get("external_id"), "reason": one.get("reason")}
            for one in rule["items"][:_OF_RULE]
        ],
        "total": rule["total"],
    }


def _text(id_: object) -> str | None:
    return None if id_ is None else str(id_)


CHECK_GATE = Tool(
    "check_gate",
    "Whether a change may go out",
    "The gate for a branch, or a commit of it: each rule, whether it holds, why not, and the first 5 items in its way.",
    CheckGateArguments,
    GateAnswer,
    _run,
)
